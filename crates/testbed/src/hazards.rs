//! From `[hazard]` to what seeded runs draw.

use fencepost_choice::Distribution;
use fencepost_history::Duration;
use fencepost_sim::{Hazard, HazardAt};

use crate::scenario::{Direction, Odds, Rate, Scenario, Trigger};

/// Turns odds into a number of 2^64.
fn threshold(odds: Odds) -> u64 {
    let scaled = (u128::from(odds.hits) << 64) / u128::from(odds.of.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Returns the odds of a loss between two machines.
pub(crate) fn loss_odds(scenario: &Scenario) -> impl Fn(&str, &str) -> u64 {
    let loss = scenario.hazard.as_ref().and_then(|hazard| hazard.lose.clone());
    move |from, to| {
        let Some(loss) = &loss else {
            return 0;
        };
        let is_meant =
            |whose: &Option<String>, name: &str| whose.as_ref().is_none_or(|whose| whose == name);
        if is_meant(&loss.from, from) && is_meant(&loss.to, to) { threshold(loss.odds) } else { 0 }
    }
}

fn gap(rate: Rate) -> HazardAt {
    HazardAt::Gap(Distribution::Exponential { mean: rate.mean_gap() })
}

fn when(trigger: &Trigger) -> HazardAt {
    match *trigger {
        Trigger::Rate(rate) => gap(rate),
        Trigger::Moment { moment, odds } => HazardAt::Moment(moment, threshold(odds)),
    }
}

/// Collects the hazards of a scenario, one for each victim.
struct Collector<'a> {
    scenario: &'a Scenario,
    hazards: Vec<Hazard>,
}

impl Collector<'_> {
    fn add(&mut self, site: String, at: HazardAt, magnitude: Distribution) {
        self.hazards.push(Hazard { site, at, magnitude, is_backward: false });
    }

    fn clients(&self, only: Option<&String>) -> Vec<String> {
        match only {
            Some(name) => vec![name.clone()],
            None => self.scenario.workload.clients.iter().map(|c| c.name.clone()).collect(),
        }
    }

    fn nodes(&self, only: Option<&String>) -> Vec<String> {
        only.map_or_else(|| self.scenario.store.server_names(), |name| vec![name.clone()])
    }

    fn processes(&mut self) {
        let Some(hazard) = self.scenario.hazard.as_ref() else {
            return;
        };
        if let Some(pause) = &hazard.pause {
            for name in self.clients(pause.process.as_ref()) {
                let site = format!("client.pause@{name}");
                self.add(site, when(&pause.trigger), pause.length.clone());
            }
        }
        if let Some(crash) = &hazard.crash {
            for name in self.clients(crash.process.as_ref()) {
                let down = Distribution::Fixed(crash.restart_after.unwrap_or(Duration::MAX));
                self.add(format!("client.crash@{name}"), when(&crash.trigger), down);
            }
        }
        if let Some(stall) = &hazard.stall {
            for name in self.threads(stall.thread.as_ref()) {
                let site = format!("client.stall@{name}");
                self.add(site, when(&stall.trigger), stall.length.clone());
            }
        }
    }

    fn threads(&self, only: Option<&String>) -> Vec<String> {
        if let Some(name) = only {
            return vec![if name.contains('/') { name.clone() } else { format!("{name}/worker") }];
        }
        let clients = self.scenario.workload.clients.iter();
        clients
            .flat_map(|client| {
                (1..=client.behaviour.threads).map(|number| match number {
                    1 => format!("{}/worker", client.name),
                    _ => format!("{}/worker-{number}", client.name),
                })
            })
            .collect()
    }

    fn servers(&mut self) {
        let Some(hazard) = self.scenario.hazard.as_ref() else {
            return;
        };
        for (kind, outage) in [("restart", &hazard.server_restart), ("stall", &hazard.server_stall)]
        {
            let Some(outage) = outage else {
                continue;
            };
            for name in self.nodes(outage.server.as_ref()) {
                self.add(format!("server.{kind}@{name}"), gap(outage.rate), outage.length.clone());
            }
        }
        let Some(step) = &hazard.clock_step else {
            return;
        };
        let both = Rate { events: step.rate.events, per: step.rate.per.saturating_mul(2) };
        for name in self.nodes(step.host.as_ref()) {
            let site = format!("clock.step@{name}");
            match step.direction {
                Direction::Forward => self.add(site, gap(step.rate), step.by.clone()),
                Direction::Back => self.add_back(site, gap(step.rate), step.by.clone()),
                Direction::Both => {
                    self.add(site.clone(), gap(both), step.by.clone());
                    self.add_back(site, gap(both), step.by.clone());
                }
            }
        }
    }

    fn add_back(&mut self, site: String, at: HazardAt, magnitude: Distribution) {
        self.hazards.push(Hazard { site, at, magnitude, is_backward: true });
    }

    fn partitions(&mut self) {
        let Some(cut) = self.scenario.hazard.as_ref().and_then(|h| h.partition.as_ref()) else {
            return;
        };
        for client in &self.scenario.workload.clients {
            for server in self.scenario.server_names() {
                let pair = (client.name.clone(), server.clone());
                let is_meant = cut.between.as_ref().is_none_or(|between| {
                    *between == pair || *between == (pair.1.clone(), pair.0.clone())
                });
                if is_meant {
                    let site = format!("net.partition@{}->{server}", client.name);
                    self.add(site, gap(cut.rate), cut.length.clone());
                }
            }
        }
    }
}

/// Returns the hazards of a scenario, but for losses, which belong to links.
pub(crate) fn all(scenario: &Scenario) -> Vec<Hazard> {
    let mut collector = Collector { scenario, hazards: Vec::new() };
    collector.processes();
    collector.servers();
    collector.partitions();
    collector.hazards
}
