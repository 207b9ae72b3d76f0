//! All servers of a simulation, as one value.

use fencepost_history::{AccessOutcome, GrantId, ServerId, Token, What};
use fencepost_redis::Command;
use fencepost_sim::{CallRef, ServerContext, Services};

use crate::node::{NodeSetup, RedisNode};
use crate::operation::Operation;
use crate::resource::{AccessRequest, Resource, ResourceSetup};

/// What all servers are from run to run; the order of both lists together is that of the
/// simulation's servers: first the nodes, then the resources.
#[derive(Clone, Debug)]
pub struct ServersSetup {
    /// The Redis nodes.
    pub nodes: Vec<NodeSetup>,
    /// The protected resources.
    pub resources: Vec<ResourceSetup>,
    /// What faults may do to servers, by the numbers in their deviations.
    pub operations: Vec<Operation>,
}

/// What clients send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A command for a Redis node.
    Redis(RedisRequest),
    /// An access to a resource.
    Access(AccessRequest),
}

/// A command for a Redis node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisRequest {
    /// The command.
    pub command: Command,
    /// Whose it is: ghost state, which the node keeps beside the key.
    pub by: GrantId,
}

/// What clients get back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A Redis node's reply.
    Redis(fencepost_redis::Reply),
    /// A resource's answer.
    Access {
        /// What it did.
        outcome: AccessOutcome,
        /// The highest token it has seen; [`Token::NONE`] if it has seen none.
        highest: Token,
    },
}

/// All servers of a simulation.
#[derive(Clone, Debug)]
pub struct Servers {
    nodes: Vec<RedisNode>,
    resources: Vec<Resource>,
    operations: Vec<Operation>,
}

impl Servers {
    /// Builds the servers as they are at the start of a run.
    #[must_use]
    pub fn new(setup: ServersSetup) -> Self {
        Self {
            nodes: setup.nodes.into_iter().map(RedisNode::new).collect(),
            resources: setup.resources.into_iter().map(Resource::new).collect(),
            operations: setup.operations,
        }
    }
}

impl Services for Servers {
    type Request = Request;
    type Reply = Reply;
    type Message = ();

    fn reset(&mut self) {
        self.nodes.iter_mut().for_each(RedisNode::reset);
        self.resources.iter_mut().for_each(Resource::reset);
    }

    #[inline]
    fn serve(&mut self, call: CallRef, request: &Request, cx: &mut ServerContext<'_, Self>) {
        let server = call.server.index();
        match request {
            Request::Redis(request) => self.nodes[server].serve(call, request, cx),
            Request::Access(request) => {
                self.resources[server - self.nodes.len()].serve(call, request, cx);
            }
        }
    }

    fn receive(&mut self, _: ServerId, _: ServerId, _: &(), _: &mut ServerContext<'_, Self>) {}

    fn wake(&mut self, server: ServerId, token: u32, cx: &mut ServerContext<'_, Self>) {
        let place = server.index() - self.nodes.len();
        self.resources[place].wake(token, cx);
    }

    fn crash(&mut self, server: ServerId, has_power: bool, cx: &mut ServerContext<'_, Self>) {
        let nodes = self.nodes.len();
        match self.nodes.get_mut(server.index()) {
            Some(node) => node.crash(has_power, cx),
            None => self.resources[server.index() - nodes].crash(server),
        }
    }

    fn start(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>) {
        if let Some(node) = self.nodes.get_mut(server.index()) {
            node.start(cx);
        }
    }

    fn clock_changed(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>) {
        if let Some(node) = self.nodes.get_mut(server.index()) {
            node.clock_changed(cx);
        }
    }

    fn operate(&mut self, server: ServerId, operation: u32, cx: &mut ServerContext<'_, Self>) {
        let nodes = self.nodes.len();
        match self.operations.get(operation as usize) {
            Some(Operation::Command(_)) if !cx.is_up(server) => {}
            Some(Operation::Command(command)) => {
                cx.emit(What::Outsider { server });
                if let Some(node) = self.nodes.get_mut(server.index()) {
                    node.execute(command, GrantId::NONE, cx);
                }
            }
            Some(Operation::ForgetTokens) => {
                if let Some(place) = server.index().checked_sub(nodes) {
                    self.resources[place].forget_tokens(cx);
                }
            }
            None => {}
        }
    }

    fn describe_request(&self, server: ServerId, request: &Request) -> String {
        match request {
            Request::Redis(request) => request.command.to_text(self.nodes[server.index()].names()),
            Request::Access(request) => {
                self.resources[server.index() - self.nodes.len()].describe(request)
            }
        }
    }

    fn describe_reply(&self, server: ServerId, reply: &Reply) -> String {
        match reply {
            Reply::Redis(reply) => reply.to_text(self.nodes[server.index()].names()),
            Reply::Access { outcome: AccessOutcome::Accepted, .. } => "accepted".to_owned(),
            Reply::Access { outcome: AccessOutcome::Deduplicated, .. } => "done already".to_owned(),
            Reply::Access { outcome: AccessOutcome::Refused, highest } => {
                format!("refused: token {highest} has been seen")
            }
        }
    }
}
