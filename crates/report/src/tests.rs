mod block;
mod zombie;
