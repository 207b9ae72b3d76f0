//! The protected resource: it accepts or refuses reads and writes by their fencing tokens.

use fencepost_history::{
    Access, AccessOutcome, Duration, GrantId, JobId, ResourceId, ServerId, Token, What,
};
use fencepost_sim::{CallRef, ServerContext};

use crate::Servers;
use crate::servers::Reply;

/// Which accesses the resource checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fencing {
    /// None.
    #[default]
    Off,
    /// Writes.
    Writes,
    /// Reads and writes.
    ReadsAndWrites,
    /// Reads and writes, but a write takes effect some time after its check.
    CheckNotAtomic(Duration),
    /// Reads and writes on the main path; the side path is open.
    SidePathOpen,
}

/// Which tokens pass a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// The highest one so far and all above it.
    #[default]
    HighestOrAbove,
    /// Only those above the highest one so far.
    Above,
}

/// The way by which an access comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The one that the fence was built for.
    Main,
    /// Another one: a notification, a batch job, an administrator's tool.
    Side,
}

/// An access to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    /// Under which grant; ghost state for the history.
    pub grant: GrantId,
    /// The fencing token that is sent along.
    pub token: Token,
    /// The job occurrence whose effect a write is; also its idempotency key.
    pub job: JobId,
    /// Read or write.
    pub access: Access,
    /// By which way.
    pub path: Path,
}

/// What a resource is from run to run.
#[derive(Clone, Debug)]
pub struct ResourceSetup {
    /// Its number.
    pub resource: ResourceId,
    /// Its name.
    pub name: String,
    /// Which accesses it checks.
    pub fencing: Fencing,
    /// Which tokens pass.
    pub accept: Accept,
    /// Whether a write whose job was done already has no effect.
    pub is_idempotent: bool,
}

/// A protected resource.
#[derive(Clone, Debug)]
pub struct Resource {
    setup: ResourceSetup,
    /// The highest token that a check passed.
    highest: Option<Token>,
    /// The same, which amnesia does not touch: ghost state for the history.
    true_highest: Option<Token>,
    done: Vec<JobId>,
    /// Writes that were checked and have not taken effect.
    waiting: Vec<(CallRef, AccessRequest)>,
}

impl Resource {
    pub(crate) const fn new(setup: ResourceSetup) -> Self {
        Self { setup, highest: None, true_highest: None, done: Vec::new(), waiting: Vec::new() }
    }

    pub(crate) fn reset(&mut self) {
        self.highest = None;
        self.true_highest = None;
        self.done.clear();
        self.waiting.clear();
    }

    pub(crate) fn describe(&self, request: &AccessRequest) -> String {
        let verb = match request.access {
            Access::Read => "read",
            Access::Write => "write",
        };
        let name = &self.setup.name;
        let way = if request.path == Path::Side { " by the side path" } else { "" };
        match request.token.number() {
            Some(token) => format!("{verb} {name} with token {token}{way}"),
            None => format!("{verb} {name}{way}"),
        }
    }

    const fn checks(&self, request: &AccessRequest) -> bool {
        match self.setup.fencing {
            Fencing::Off => false,
            Fencing::Writes => matches!(request.access, Access::Write),
            Fencing::ReadsAndWrites | Fencing::CheckNotAtomic(_) => true,
            Fencing::SidePathOpen => matches!(request.path, Path::Main),
        }
    }

    #[inline]
    pub(crate) fn serve(
        &mut self,
        call: CallRef,
        request: &AccessRequest,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let outcome = if self.checks(request) && !self.passes(request.token) {
            AccessOutcome::Refused
        } else if let Fencing::CheckNotAtomic(gap) = self.setup.fencing
            && request.access == Access::Write
        {
            let place = u32::try_from(self.waiting.len()).expect("writes are limited");
            self.waiting.push((call, *request));
            cx.wake(call.server, cx.now() + gap, place);
            return;
        } else {
            self.apply(request)
        };
        self.answer(call, request, outcome, cx);
    }

    /// Lets a write take effect that was checked before.
    pub(crate) fn wake(&mut self, place: u32, cx: &mut ServerContext<'_, Servers>) {
        let (call, request) = self.waiting[place as usize];
        let outcome = self.apply(&request);
        self.answer(call, &request, outcome, cx);
    }

    /// Compares a token with the highest one, which it becomes if it passes.
    fn passes(&mut self, token: Token) -> bool {
        let passes = match (self.highest, self.setup.accept) {
            (None, _) => true,
            (Some(highest), Accept::HighestOrAbove) => token >= highest,
            (Some(highest), Accept::Above) => token > highest,
        };
        if passes {
            self.highest = Some(token);
        }
        passes
    }

    /// Lets an access take effect, unless it is a write whose job was done already.
    fn apply(&mut self, request: &AccessRequest) -> AccessOutcome {
        if self.setup.is_idempotent && request.access == Access::Write {
            if self.done.contains(&request.job) {
                return AccessOutcome::Deduplicated;
            }
            self.done.push(request.job);
        }
        AccessOutcome::Accepted
    }

    #[inline(always)]
    fn answer(
        &mut self,
        call: CallRef,
        request: &AccessRequest,
        outcome: AccessOutcome,
        cx: &mut ServerContext<'_, Servers>,
    ) {
        let checked = self.checks(request);
        let mut regressed = false;
        if checked && outcome == AccessOutcome::Accepted {
            regressed = self.true_highest.is_some_and(|highest| request.token < highest);
            self.true_highest = self.true_highest.max(Some(request.token));
        }
        cx.emit(What::Accessed {
            resource: self.setup.resource,
            grant: request.grant,
            token: request.token,
            job: request.job,
            access: request.access,
            outcome,
            checked,
            regressed,
        });
        let highest = self.highest.unwrap_or(Token::NONE);
        cx.reply(call, Reply::Access { outcome, highest }, Duration::ZERO);
    }

    pub(crate) fn forget_tokens(&mut self, cx: &mut ServerContext<'_, Servers>) {
        self.highest = None;
        cx.emit(What::TokensForgotten { resource: self.setup.resource });
    }

    /// Answers nothing that it had not answered when it died.
    pub(crate) fn crash(&mut self, _: ServerId) {
        self.waiting.clear();
    }
}
