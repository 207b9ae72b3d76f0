use super::zombie::{zombie, zombie_of};
use crate::formats::{self, ALL};
use crate::page::html;

#[test]
fn every_format_gives_equal_bytes_twice() {
    let (story, history) = zombie();
    for format in ALL {
        let bytes = (format.write)(&story, &history);
        assert!(!bytes.is_empty(), "{}", format.file);
        assert_eq!(bytes, (format.write)(&story, &history), "{}", format.file);
    }
}

#[test]
fn the_svg_is_what_it_was() {
    let (story, history) = zombie();
    let svg = formats::named("timeline.svg").unwrap();
    let text = String::from_utf8((svg.write)(&story, &history)).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn names_stay_text() {
    let nasty = ["</script><b>", "\"><img src=x>"];
    let (mut story, history) = zombie_of(nasty);
    story.title = "</title><script>alert(1)</script>".to_owned();
    story.resolved_scenario = "</pre><img src=x>".to_owned();
    let svg = formats::named("timeline.svg").unwrap();
    let svg = String::from_utf8((svg.write)(&story, &history)).unwrap();
    for text in [html(&story, &history), svg] {
        for tag in ["<script", "<img", "<b>\"", "</script>"] {
            assert!(!text.contains(tag), "{tag}");
        }
    }
}

#[test]
fn the_page_loads_nothing() {
    let (story, history) = zombie();
    let page = html(&story, &history);
    for word in ["http://", "https://", "src=", "url(", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn traces_parse_and_agree() {
    let (story, history) = zombie();
    let write = |file: &str| (formats::named(file).unwrap().write)(&story, &history);
    let lines = String::from_utf8(write("trace.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let table = write("trace.csv");
    let mut reader = csv::Reader::from_reader(table.as_slice());
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(&records) {
        assert_eq!(row["ev"], record[2]);
        assert_eq!(row["t_ns"].as_u64().unwrap().to_string(), record[1]);
    }
    assert_eq!(rows.iter().filter(|row| row["ev"] == "violation").count(), 2);
}
