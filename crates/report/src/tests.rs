mod block;
mod drawing;
mod page;
mod palette;
mod zombie;
