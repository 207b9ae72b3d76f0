mod block;
mod page;
mod zombie;
