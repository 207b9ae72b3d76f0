//! How wide text is in a drawing, measured with DejaVu Sans.
//!
//! Browsers may take another font, but the usual ones are narrower, so what fits here fits there.

/// Advance widths of U+0020 to U+007E in thousandths of the font size.
const WIDTHS: [i32; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Returns the width of a text in tenths of a pixel at a size in pixels.
pub(crate) fn width(text: &str, size: i32) -> i32 {
    let thousandths: i32 = text.chars().map(advance).sum();
    (thousandths * size + 99) / 100
}

fn advance(c: char) -> i32 {
    let index = (c as usize).wrapping_sub(0x20);
    WIDTHS.get(index).copied().unwrap_or(1_000)
}

/// Breaks a text at blanks so that each row fits.
pub(crate) fn wrap(text: &str, room: i32, size: i32) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match rows.last_mut() {
            Some(row) if width(&format!("{row} {word}"), size) <= room => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}
