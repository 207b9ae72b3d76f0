mod block;
mod zombie;
mod page;
