//! The colours, by what they mean, in a light and a dark theme.

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// How many clients have a colour of their own; then colours repeat and names decide.
pub const CLIENTS: usize = 5;

/// The two themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// What a colour stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paint {
    /// The background of everything.
    Background,
    /// The background of boxes.
    Surface,
    /// Text and arrows.
    Ink,
    /// Text that steps back.
    Muted,
    /// Lines between lanes.
    Grid,
    /// A message that is lost.
    Lost,
    /// A process that does not run.
    Hatch,
    /// A client.
    Client(usize),
    /// Text on a client's colour.
    OnClient(usize),
    /// A client's belief.
    Tint(usize),
    /// A violation.
    Violation,
    /// Text on a violation's colour.
    OnViolation,
    /// The time of a violation.
    Band,
    /// The hatch in the time of a violation.
    BandHatch,
    /// The focus ring.
    Focus,
}

const CLIENT_LIGHT: [Rgb; CLIENTS] = [
    Rgb(0x11, 0x95, 0xF4),
    Rgb(0xD0, 0x6E, 0x21),
    Rgb(0x8E, 0x04, 0xAB),
    Rgb(0x41, 0x79, 0x79),
    Rgb(0x13, 0x40, 0x3D),
];
const CLIENT_DARK: [Rgb; CLIENTS] = [
    Rgb(0x11, 0xD6, 0xFF),
    Rgb(0xEC, 0xE0, 0x2F),
    Rgb(0x7A, 0x49, 0xFA),
    Rgb(0x05, 0x89, 0x7B),
    Rgb(0xE0, 0xEE, 0xDF),
];
const DARK_TEXT: Rgb = Rgb(0x14, 0x18, 0x1D);
const WHITE: Rgb = Rgb(0xFF, 0xFF, 0xFF);

impl Paint {
    /// All paints.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::Background,
            Self::Surface,
            Self::Ink,
            Self::Muted,
            Self::Grid,
            Self::Lost,
            Self::Hatch,
            Self::Violation,
            Self::OnViolation,
            Self::Band,
            Self::BandHatch,
            Self::Focus,
        ];
        for client in 0..CLIENTS {
            all.extend([Self::Client(client), Self::OnClient(client), Self::Tint(client)]);
        }
        all
    }

    /// Returns the name that style sheets use.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Background => "background".to_owned(),
            Self::Surface => "surface".to_owned(),
            Self::Ink => "ink".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Lost => "lost".to_owned(),
            Self::Hatch => "hatch".to_owned(),
            Self::Client(client) => format!("client{}", client % CLIENTS + 1),
            Self::OnClient(client) => format!("on-client{}", client % CLIENTS + 1),
            Self::Tint(client) => format!("tint{}", client % CLIENTS + 1),
            Self::Violation => "violation".to_owned(),
            Self::OnViolation => "on-violation".to_owned(),
            Self::Band => "band".to_owned(),
            Self::BandHatch => "band-hatch".to_owned(),
            Self::Focus => "focus".to_owned(),
        }
    }

    /// Returns the colour in a theme.
    #[must_use]
    pub fn rgb(self, theme: Theme) -> Rgb {
        let light = theme == Theme::Light;
        let pick = |in_light, in_dark| if light { in_light } else { in_dark };
        match self {
            Self::Background => pick(WHITE, Rgb(0x12, 0x16, 0x1C)),
            Self::Surface => pick(Rgb(0xF4, 0xF6, 0xF8), Rgb(0x1A, 0x20, 0x28)),
            Self::Ink => pick(DARK_TEXT, Rgb(0xE8, 0xEC, 0xF1)),
            Self::Muted => pick(Rgb(0x55, 0x60, 0x6B), Rgb(0xA3, 0xAE, 0xBA)),
            Self::Grid => pick(Rgb(0xD5, 0xDA, 0xE0), Rgb(0x2A, 0x32, 0x3C)),
            Self::Lost => pick(Rgb(0x5B, 0x64, 0x70), Rgb(0x9A, 0xA5, 0xB1)),
            Self::Hatch => pick(Rgb(0x3A, 0x42, 0x4B), Rgb(0xC3, 0xCC, 0xD6)),
            Self::Client(client) => {
                pick(CLIENT_LIGHT[client % CLIENTS], CLIENT_DARK[client % CLIENTS])
            }
            Self::OnClient(client) => match (client % CLIENTS, light) {
                (0 | 1, _) | (4, false) => DARK_TEXT,
                _ => WHITE,
            },
            Self::Tint(client) => {
                Self::Client(client).rgb(theme).over(Self::Background.rgb(theme), 30)
            }
            Self::Violation => pick(Rgb(0x98, 0x02, 0x01), Rgb(0xD7, 0x3B, 0x13)),
            Self::OnViolation => WHITE,
            Self::Band => Self::Violation.rgb(theme).over(Self::Background.rgb(theme), 13),
            Self::BandHatch => Self::Violation.rgb(theme).over(Self::Background.rgb(theme), 38),
            Self::Focus => pick(Rgb(0x0B, 0x57, 0xD0), Rgb(0x8A, 0xB4, 0xF8)),
        }
    }

    /// Returns the text colour for a paint that is a background, ink where none is needed.
    #[must_use]
    pub fn text(self) -> Self {
        match self {
            Self::Client(client) => Self::OnClient(client),
            Self::Violation => Self::OnViolation,
            Self::Background
            | Self::Surface
            | Self::Ink
            | Self::Muted
            | Self::Grid
            | Self::Lost
            | Self::Hatch
            | Self::OnClient(_)
            | Self::Tint(_)
            | Self::OnViolation
            | Self::Band
            | Self::BandHatch
            | Self::Focus => Self::Ink,
        }
    }
}

impl Rgb {
    /// Writes `#1195F4`.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }

    /// Mixes so many percent of this colour into another.
    #[must_use]
    pub fn over(self, other: Self, percent: u16) -> Self {
        let mix = |a: u8, b: u8| {
            let sum = u16::from(a) * percent + u16::from(b) * (100 - percent) + 50;
            u8::try_from(sum / 100).expect("a mean of two bytes is a byte")
        };
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

/// Writes style sheet rules that set every paint as a variable, `--client1: #1195F4;`.
#[must_use]
pub fn variables(theme: Theme) -> String {
    let line = |paint: Paint| format!("--{}:{};", paint.name(), paint.rgb(theme).hex());
    Paint::all().into_iter().map(line).collect()
}
