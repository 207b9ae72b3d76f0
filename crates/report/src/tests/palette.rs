#![expect(clippy::float_arithmetic, reason = "contrast is defined with powers")]

use crate::palette::{CLIENTS, Paint, Rgb, Theme};

/// The relative luminance of WCAG 2.
fn luminance(color: Rgb) -> f64 {
    let linear = |byte: u8| {
        let part = f64::from(byte) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
    };
    0.2126 * linear(color.0) + 0.7152 * linear(color.1) + 0.0722 * linear(color.2)
}

fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn everything_can_be_told_from_its_background() {
    for theme in [Theme::Light, Theme::Dark] {
        let background = Paint::Background.rgb(theme);
        let mut forms = vec![Paint::Lost, Paint::Hatch, Paint::Violation, Paint::Focus];
        forms.extend((0..CLIENTS).map(Paint::Client));
        for form in forms {
            let ratio = contrast(form.rgb(theme), background);
            assert!(ratio >= 3.0, "{form:?} in {theme:?}: {ratio:.2}");
        }
    }
}

#[test]
fn words_can_be_read() {
    for theme in [Theme::Light, Theme::Dark] {
        let mut pairs = vec![(Paint::Ink, Paint::Background), (Paint::Ink, Paint::Surface)];
        pairs.extend([Paint::Background, Paint::Surface].map(|ground| (Paint::Muted, ground)));
        pairs.push((Paint::Ink, Paint::Band));
        pairs.extend((0..CLIENTS).map(|client| (Paint::Ink, Paint::Tint(client))));
        for (text, ground) in pairs {
            let ratio = contrast(text.rgb(theme), ground.rgb(theme));
            assert!(ratio >= 4.5, "{text:?} on {ground:?} in {theme:?}: {ratio:.2}");
        }
        // Short words on full colours are large or stand in the list as well.
        let mut loud = vec![(Paint::OnViolation, Paint::Violation)];
        loud.extend((0..CLIENTS).map(|client| (Paint::OnClient(client), Paint::Client(client))));
        for (text, ground) in loud {
            let ratio = contrast(text.rgb(theme), ground.rgb(theme));
            assert!(ratio >= 4.0, "{text:?} on {ground:?} in {theme:?}: {ratio:.2}");
        }
    }
}

#[test]
fn colours_are_those_of_the_table() {
    assert_eq!(Paint::Client(0).rgb(Theme::Light).hex(), "#1195F4");
    assert_eq!(Paint::Client(6).rgb(Theme::Dark), Paint::Client(1).rgb(Theme::Dark));
    assert_eq!(Rgb(0, 100, 200).over(Rgb(100, 100, 100), 30), Rgb(70, 100, 130));
}
