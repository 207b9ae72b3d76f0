mod agree;
mod edges;
mod kinds;
mod list;
mod tale;
mod waits;
