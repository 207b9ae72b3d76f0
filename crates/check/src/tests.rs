mod agree;
mod edges;
mod kinds;
mod list;
mod quorums;
mod tale;
mod waits;
