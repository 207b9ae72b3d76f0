//! All servers of a simulation, as one value.

use fencepost_history::{AccessOutcome, GrantId, Instant, ServerId, Token};
use fencepost_redis::Command;
use fencepost_sim::{CallRef, ServerContext, Services};

use crate::node::{NodeSetup, RedisNode};
use crate::operation::Operation;
use crate::replication::{Message, Replication, ReplicationSetup, Wait, id};
use crate::resource::{AccessRequest, Resource, ResourceSetup};
use crate::script::{ScriptReply, ScriptRequest};
use crate::sentinel::{self, SentinelSetup, Sentinels};

/// What all servers are from run to run; the order of the lists together is that of the
/// simulation's servers: first the nodes, then the sentinels, then the resources.
#[derive(Clone, Debug)]
pub struct ServersSetup {
    /// The Redis nodes.
    pub nodes: Vec<NodeSetup>,
    /// How the nodes copy each other, if they do.
    pub replication: Option<ReplicationSetup>,
    /// The sentinels that watch the replication, if there are any.
    pub sentinels: Option<SentinelSetup>,
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
    /// A command and, in the same breath, `WAIT`; a refused command is answered at once.
    RedisThenWait(RedisRequest, Wait),
    /// `WAIT` on the connection of the command before, or on one that has sent none.
    Wait {
        /// For how many, and for how long.
        wait: Wait,
        /// Whether the connection has sent no command before.
        is_fresh: bool,
    },
    /// A sentinel is asked who is master.
    AskMaster,
    /// A call of a user's script at a Redis node.
    Script(ScriptRequest),
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
    /// The reply to a command, and how many replicas have it.
    Waited {
        /// The command's reply.
        reply: fencepost_redis::Reply,
        /// How many replicas have acknowledged it.
        replicas: u8,
    },
    /// A sentinel's belief who is master.
    Master(ServerId),
    /// What a user's script answers.
    Script(ScriptReply),
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
    pub(crate) nodes: Vec<RedisNode>,
    pub(crate) replication: Option<Box<Replication>>,
    pub(crate) sentinels: Option<Box<Sentinels>>,
    resources: Vec<Resource>,
    operations: Vec<Operation>,
    /// How many servers come before the resources.
    first_resource: usize,
}

/// What a server is, and its place among its kind.
enum Kind {
    Node(usize),
    Sentinel(usize),
    Resource(usize),
}

impl Servers {
    /// Builds the servers as they are at the start of a run.
    #[must_use]
    pub fn new(setup: ServersSetup) -> Self {
        let sentinels = setup.sentinels.as_ref().map_or(0, |setup| usize::from(setup.count));
        let nodes: Vec<_> = setup.nodes.into_iter().map(RedisNode::new).collect();
        let first_resource = nodes.len() + sentinels;
        Self {
            replication: setup.replication.map(|setup| Box::new(Replication::new(setup))),
            sentinels: setup.sentinels.map(|setup| Box::new(Sentinels::new(setup, nodes.len()))),
            nodes,
            resources: setup.resources.into_iter().map(Resource::new).collect(),
            operations: setup.operations,
            first_resource,
        }
    }

    /// Returns how many servers come before the resources.
    pub(crate) const fn first_resource(&self) -> usize {
        self.first_resource
    }

    pub(crate) fn resource_mut(&mut self, server: ServerId) -> Option<&mut Resource> {
        self.resources.get_mut(server.index().checked_sub(self.first_resource)?)
    }

    const fn kind(&self, server: ServerId) -> Kind {
        let place = server.index();
        if place < self.nodes.len() {
            Kind::Node(place)
        } else if place < self.first_resource {
            Kind::Sentinel(place - self.nodes.len())
        } else {
            Kind::Resource(place - self.first_resource)
        }
    }

    /// Serves what only a replication and its sentinels know.
    #[cold]
    fn serve_rarely(&mut self, call: CallRef, request: &Request, cx: &mut ServerContext<'_, Self>) {
        match (self.kind(call.server), &mut self.replication, *request) {
            (_, Some(replication), Request::Redis(request)) => {
                replication.serve(&mut self.nodes, call, &request, Wait::default(), cx);
            }
            (_, Some(replication), Request::RedisThenWait(request, wait)) => {
                replication.serve(&mut self.nodes, call, &request, wait, cx);
            }
            (Kind::Node(place), Some(replication), Request::Wait { wait, is_fresh }) => {
                let cost = self.nodes[place].command_time();
                replication.serve_wait(call, wait, is_fresh, cost, cx);
            }
            (Kind::Sentinel(place), _, Request::AskMaster) => {
                let sentinels = self.sentinels.as_ref().expect("there is this sentinel");
                let master = Reply::Master(id(sentinels.master(place)));
                cx.reply(call, master, self.nodes[0].command_time());
            }
            (Kind::Node(place), None, Request::Script(request)) => {
                self.nodes[place].serve_script(call, &request, cx);
            }
            // A server without replicas waits for none.
            (Kind::Node(place), None, Request::RedisThenWait(request, _)) => {
                let outcome = self.nodes[place].execute(&request.command, request.by, cx);
                let reply = Reply::Waited { reply: outcome.reply, replicas: 0 };
                cx.reply(call, reply, self.nodes[place].cost(&request.command));
            }
            (kind, _, request) => {
                let place = match kind {
                    Kind::Node(place) | Kind::Sentinel(place) | Kind::Resource(place) => place,
                };
                unreachable!("nobody sends {request:?} to server {place} of its kind")
            }
        }
    }

    /// Lets sentinels see who answers them and who does not.
    pub(crate) fn look(&mut self, cx: &mut ServerContext<'_, Self>) {
        if let (Some(sentinels), Some(replication)) = (&mut self.sentinels, &self.replication) {
            sentinels.look(replication, cx);
        }
    }

    /// Gives the first error that a user's script raised in this run.
    #[must_use]
    pub fn script_failure(&self) -> Option<&str> {
        self.nodes.iter().find_map(RedisNode::script_failure)
    }
}

impl Services for Servers {
    type Request = Request;
    type Reply = Reply;
    type Message = Message;

    fn reset(&mut self) {
        self.nodes.iter_mut().for_each(RedisNode::reset);
        self.resources.iter_mut().for_each(Resource::reset);
        if let Some(replication) = &mut self.replication {
            replication.reset(&mut self.nodes);
        }
        if let Some(sentinels) = &mut self.sentinels {
            sentinels.reset();
        }
    }

    #[inline]
    fn serve(&mut self, call: CallRef, request: &Request, cx: &mut ServerContext<'_, Self>) {
        let server = call.server.index();
        match request {
            Request::Redis(plain) if self.replication.is_none() => {
                self.nodes[server].serve(call, plain, cx);
            }
            Request::Access(access) => {
                self.resources[server - self.first_resource].serve(call, access, cx);
            }
            Request::Redis(_)
            | Request::RedisThenWait(..)
            | Request::Wait { .. }
            | Request::Script(_)
            | Request::AskMaster => self.serve_rarely(call, request, cx),
        }
    }

    fn receive(
        &mut self,
        to: ServerId,
        from: ServerId,
        message: &Message,
        cx: &mut ServerContext<'_, Self>,
    ) {
        if let Some(replication) = &mut self.replication {
            replication.receive(&mut self.nodes, to.index(), from.index(), message, cx);
        }
    }

    fn wake(&mut self, server: ServerId, token: u32, cx: &mut ServerContext<'_, Self>) {
        match (self.kind(server), &mut self.replication, &mut self.sentinels) {
            (Kind::Resource(place), _, _) => self.resources[place].wake(token, cx),
            (Kind::Node(place), Some(replication), _) => {
                replication.wake(&mut self.nodes, place, token, cx);
            }
            (Kind::Sentinel(place), Some(replication), Some(sentinels)) => {
                sentinels.wake(replication, &mut self.nodes, place, token, cx);
            }
            (Kind::Node(_) | Kind::Sentinel(_), _, _) => {}
        }
    }

    fn crash(&mut self, server: ServerId, has_power: bool, cx: &mut ServerContext<'_, Self>) {
        match self.kind(server) {
            Kind::Node(place) => {
                self.nodes[place].crash(has_power, cx);
                if let Some(replication) = &mut self.replication {
                    replication.crash(place, cx);
                }
                if self.sentinels.is_some() {
                    // Its connections close with it, so its clients know at once.
                    sentinel::tell(server, Some(place), None, cx);
                }
            }
            Kind::Sentinel(_) => {}
            Kind::Resource(place) => self.resources[place].crash(server),
        }
        self.look(cx);
    }

    fn start(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>) {
        if let Some(node) = self.nodes.get_mut(server.index()) {
            node.start(cx);
        }
        if let (Kind::Node(place), Some(replication)) = (self.kind(server), &mut self.replication) {
            replication.start(&mut self.nodes, place, cx);
        }
        self.look(cx);
    }

    fn stalled(&mut self, server: ServerId, until: Instant, cx: &mut ServerContext<'_, Self>) {
        if let (Kind::Node(place), Some(replication)) = (self.kind(server), &mut self.replication) {
            replication.stalled(place, cx.now());
        }
        if let Some(sentinels) = &self.sentinels {
            sentinels.look_again_at(until, cx);
        }
        self.look(cx);
    }

    fn clock_changed(&mut self, server: ServerId, cx: &mut ServerContext<'_, Self>) {
        if let Some(node) = self.nodes.get_mut(server.index()) {
            node.clock_changed(cx);
        }
    }

    fn operate(&mut self, server: ServerId, operation: u32, cx: &mut ServerContext<'_, Self>) {
        if let Some(operation) = self.operations.get(operation as usize).cloned() {
            self.carry_out(server, &operation, cx);
        }
    }

    fn describe_request(&self, server: ServerId, request: &Request) -> String {
        match request {
            Request::Redis(request) => request.command.to_text(self.nodes[server.index()].names()),
            Request::RedisThenWait(request, wait) => {
                let command = request.command.to_text(self.nodes[server.index()].names());
                format!("{command}; {}", wait.to_text())
            }
            Request::Wait { wait, is_fresh: false } => wait.to_text(),
            Request::Wait { wait, is_fresh: true } => {
                format!("{} (on a connection that has sent nothing)", wait.to_text())
            }
            Request::AskMaster => "SENTINEL GET-MASTER-ADDR-BY-NAME".to_owned(),
            Request::Script(request) => self.nodes[server.index()].describe_script(request),
            Request::Access(request) => {
                self.resources[server.index() - self.first_resource].describe(request)
            }
        }
    }

    fn describe_reply(&self, server: ServerId, reply: &Reply) -> String {
        match reply {
            Reply::Redis(reply) => reply.to_text(self.nodes[server.index()].names()),
            Reply::Waited { reply, replicas } => {
                let reply = reply.to_text(self.nodes[server.index()].names());
                format!("{reply}; (integer) {replicas}")
            }
            Reply::Master(server) => format!("r{}", server.index() + 1),
            Reply::Script(reply) => reply.to_string(),
            Reply::Access { outcome: AccessOutcome::Accepted, .. } => "accepted".to_owned(),
            Reply::Access { outcome: AccessOutcome::Deduplicated, .. } => "done already".to_owned(),
            Reply::Access { outcome: AccessOutcome::Refused, highest } => {
                format!("refused: token {highest} has been seen")
            }
        }
    }
}
