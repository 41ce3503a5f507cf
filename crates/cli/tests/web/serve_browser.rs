//! The pages in a real browser, over an archive of 200 real runs. Pictures of them are left in
//! `target/pages` to be looked at.

use crate::common::browser::{Browser, pictures};
use crate::common::pages::{Pages, archived};
use crate::common::{Running, scratch};
use std::path::Path;

/// Enter, as the protocol has it.
const ENTER: &str = "\u{e007}";

/// 200 runs: repeats of two jobs, a sweep, single ones.
fn two_hundred(directory: &Path) {
    let quick = ["--ioengine=null", "--size=256k", "--eta=never"];
    let repeated = |name: &str, rw: &str, count: u32| {
        let (name, rw) = (format!("--name={name}"), format!("--rw={rw}"));
        let repeat = format!("--repeat={count}");
        archived(directory, "run", &[&[repeat.as_str(), &name, &rw][..], &quick].concat());
    };
    repeated("reader", "randread", 90);
    repeated("writer", "randwrite", 88);
    let vary = ["--vary", "bs=4k,16k,64k", "--vary", "iodepth=1,4,16", "--repeat=2"];
    let job = ["--name=swept", "--rw=randread"];
    archived(directory, "sweep", &[&vary[..], &job, &quick].concat());
    // Wider than a phone, and no space in it.
    let name = "--name=a_job_whose_name_is_long_enough_for_three_of_the_usual_ones";
    let file = [name, "--rw=randrw", "--bs=4k", "--size=1m", "--log_avg_msec=100"];
    let timed = ["--time_based", "--runtime=1"];
    archived(directory, "run", &[&file[..], &timed].concat());
    for _ in 0..3 {
        archived(directory, "run", &[&["--name=single", "--rw=read"][..], &quick].concat());
    }
}

/// Loads a page and looks at it: light and dark, on a screen and on a phone.
fn look(browser: &Browser, pages: &Pages, name: &str, path: &str) {
    browser.open(&pages.url(path));
    for (width, kind) in [(1280, "screen"), (390, "phone")] {
        browser.size(width, 844);
        for is_dark in [false, true] {
            browser.dark(is_dark);
            let shade = if is_dark { "dark" } else { "light" };
            browser.picture(&pictures().join(format!("{name}-{kind}-{shade}.png")));
            let paper = browser.script(
                "const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);\
                 return (Number(c[0]) + Number(c[1]) + Number(c[2])) / 3",
            );
            assert_eq!(paper.as_f64().unwrap() < 128.0, is_dark, "{name}: {paper}");
            if width > 1000 || !is_dark {
                let wrong = browser.inaccessible();
                assert!(wrong.is_empty(), "{name}, {kind}, {shade}: {wrong:#?}");
            }
        }
        assert_eq!(browser.too_wide(), Vec::<String>::new(), "{name}: wider than a {kind}");
    }
    browser.size(1280, 900);
    browser.dark(false);
    let unnamed = browser.script(
        "return [...document.querySelectorAll('input:not([type=hidden]), textarea, select')]\
         .filter(e => !e.labels.length && !e.ariaLabel).map(e => e.outerHTML)",
    );
    assert_eq!(unnamed.as_array().unwrap().len(), 0, "{name}: {unnamed}");
    let untitled = browser.script(
        "return [...document.querySelectorAll('table')].filter(t => !t.caption && !t.closest('[aria-label]')).length \
         + [...document.querySelectorAll('svg')].filter(s => s.getAttribute('role') !== 'img').length",
    );
    assert_eq!(untitled, 0, "{name}: tables have captions and pictures are images");
}

/// Nothing was complained of, and nothing came from elsewhere.
fn is_clean(browser: &Browser, pages: &Pages) {
    let console = browser.console();
    assert!(console.is_empty(), "{console:#?}");
    let requests = browser.requests();
    assert!(requests.iter().any(|address| address.contains(&pages.address)), "{requests:?}");
    // What a new window shows is the browser's own.
    let schemes = [pages.url("/"), "data:".to_owned(), "chrome:".to_owned()];
    let own = |address: &&String| !schemes.iter().any(|own| address.starts_with(own.as_str()));
    let foreign: Vec<&String> = requests.iter().filter(own).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn pages_of_two_hundred_runs() {
    let directory = scratch();
    two_hundred(directory.path());
    let pages = Pages::start(directory.path(), &["--allow-run"]);
    let browser = Browser::start();
    // What a new window asks for by itself is not of a page.
    browser.requests();
    browser.open(&pages.way_in());
    assert_eq!(browser.address(), pages.url("/runs"), "the token is in no history");
    assert!(browser.text("main").contains("200"), "{}", browser.text("main"));
    look(&browser, &pages, "runs", "/runs");

    // Filter as typed, and a mistake in it.
    browser.fill("[role=search] input", &format!("job=single{ENTER}"));
    browser.shows("caption", "3");
    assert_eq!(browser.count("[data-rows] tbody tr"), 3);
    browser.fill("[role=search] input", &format!("hots=x{ENTER}"));
    browser.shows("[role=alert]", "hots");
    is_clean_but(&browser, "400");

    // Sort by a column, then the other way.
    browser.open(&pages.url("/runs"));
    browser.click("thead a[href*='sort=-iops']");
    browser.shows("thead th[aria-sort=descending]", "IOPS");
    browser.click("thead a[href*='sort=iops']");
    browser.shows("thead th[aria-sort=ascending]", "IOPS");
    // Next page by keyboard alone.
    browser.open(&pages.url("/runs?filter=job%3Dreader"));
    browser.script("document.querySelector('nav.pages a[rel=next]').focus()");
    browser.keys(ENTER);
    browser.shows("nav.pages", "Page 2");

    compared_by_keys(&browser, &pages);
    look(&browser, &pages, "trends", "/trends?filter=job%3Dreader&metric=p99");
    assert!(browser.text("main h2").contains("reader (randread"), "{}", browser.text("main h2"));
    look(&browser, &pages, "machine", "/machine?path=/tmp");
    look(&browser, &pages, "live", "/live");
    look(&browser, &pages, "start", "/start");
    // The first key leads to the content.
    browser.open(&pages.url("/runs"));
    browser.keys("\u{e004}");
    assert_eq!(browser.script("return document.activeElement.className"), "skip");
    is_clean(&browser, &pages);
}

#[test]
fn figures_of_charts_are_read_and_zoomed_by_pointer_and_keys() {
    let directory = scratch();
    let file = ["--name=timed", "--rw=randrw", "--bs=4k", "--size=1m", "--log_avg_msec=100"];
    archived(directory.path(), "run", &[&file[..], &["--time_based", "--runtime=3"]].concat());
    let pages = Pages::start(directory.path(), &[]);
    let browser = Browser::start();
    browser.open(&pages.way_in());
    browser.open(&pages.url("/runs/latest"));
    let chart = "figure[id^=chart-latency] .chart-view";
    let read = || browser.text("figure[id^=chart-latency] output");
    browser.script(&format!("document.querySelector('{chart}').focus()"));
    browser.keys("\u{e014}");
    let first = read();
    assert!(first.contains(" s: ") && first.contains("read"), "{first}");
    browser.keys("\u{e014}");
    let second = read();
    assert_ne!(first, second, "the next figure");
    browser.keys("+");
    let ticks = format!("return document.querySelectorAll('{chart} .zoom-ticks text').length");
    assert_eq!(browser.script(&ticks), 6, "an axis for the part that is shown");
    assert_eq!(read(), second, "it is still read");
    browser.picture(&pictures().join("chart-zoomed.png"));
    browser.keys("0");
    assert_eq!(browser.script(&ticks), 0);
    browser.point(chart, (100, 0));
    let pointed = read();
    assert!(pointed.contains(" s: ") && pointed != second, "{pointed}");
    browser.click("figure[id^=chart-latency] .chart-tools button");
    assert_eq!(browser.script(&ticks), 6, "zoomed by a button");
    let printed = browser.printed();
    assert!(printed.starts_with(b"%PDF") && printed.len() > 10_000, "{}", printed.len());
    std::fs::write(pictures().join("run.pdf"), printed).unwrap();
    is_clean(&browser, &pages);
}

#[test]
fn pages_can_be_read_without_scripts() {
    let directory = scratch();
    for name in ["first", "second"] {
        let name = format!("--name={name}");
        let job =
            [&*name, "--rw=randread", "--bs=4k", "--size=1m", "--runtime=300ms", "--time_based"];
        archived(directory.path(), "run", &job);
    }
    let pages = Pages::start(directory.path(), &["--allow-run"]);
    let browser = Browser::start();
    browser.open(&pages.way_in());
    browser.scripts(false);
    for (path, words) in [
        ("/runs", "second"),
        ("/runs/latest", "What limited it?"),
        ("/compare?run=latest~1&run=latest", "Comparison"),
        ("/trends?filter=job%3Dfirst", "first"),
        ("/machine?path=/tmp", "Machine"),
        // Other tests may have runs under way.
        ("/live", "of this user"),
        ("/start", "Job file"),
    ] {
        browser.open(&pages.url(path));
        let text = browser.text("body");
        assert!(text.to_lowercase().contains(&words.to_lowercase()), "{path}: {text}");
        assert_eq!(browser.count(".chart-tools"), 0, "no script ran");
    }
    // Two runs are chosen and compared by their form alone.
    browser.open(&pages.url("/runs"));
    browser.click("[data-rows] tbody tr:nth-child(1) input");
    browser.click("[data-rows] tbody tr:nth-child(2) input");
    browser.click("[data-needs]");
    browser.shows("main", "Comparison");
}

/// Rows by keys; two of them compared.
fn compared_by_keys(browser: &Browser, pages: &Pages) {
    browser.open(&pages.url("/runs?filter=job%3Dsingle"));
    browser.keys("jx");
    browser.shows("[data-count]", "1 chosen");
    assert!(
        browser.script("return document.querySelector('[data-needs]').disabled").as_bool().unwrap()
    );
    browser.keys("jx");
    browser.shows("[data-count]", "2 chosen");
    browser.click("[data-needs]");
    browser.shows("main > p", "Comparison");
    let compare = browser.address();
    look(browser, pages, "compare", compare.strip_prefix(&pages.url("")).unwrap());
}

/// Only complaints about a status that was meant.
fn is_clean_but(browser: &Browser, status: &str) {
    let console = browser.console();
    assert!(console.iter().all(|line| line.contains(status)), "{console:#?}");
}

#[test]
fn a_run_is_watched_to_its_end() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &[]);
    let browser = Browser::start();
    browser.requests();
    browser.open(&pages.way_in());
    let archive = crate::common::pages::archive(directory.path());
    let archive = format!("--archive={}", archive.display());
    let run = Running::fathom(
        "run",
        directory.path(),
        &[
            &archive,
            "--name=watched",
            "--rw=randread",
            "--bs=4k",
            "--size=1m",
            "--rate_iops=2000",
            "--time_based",
            "--runtime=6",
        ],
    );
    let pid = run.pid();
    crate::common::wait_until("the run is listed", || {
        browser.open(&pages.url("/live"));
        browser.text("main").contains("watched")
    });
    browser.click(&format!("a[href='/live/{pid}']"));
    browser.shows("#live-state", "live");
    browser.shows("[data-live] table", "running");
    let elapsed = || browser.script("return document.querySelector('[data-live] progress').value");
    let before = elapsed().as_f64().unwrap();
    crate::common::wait_until("the page goes on", || {
        elapsed().as_f64().is_some_and(|after| after > before + 0.9)
    });
    browser.picture(&pictures().join("watched-screen-light.png"));
    // At its end the browser is led to the runs, to its report where the run tells where it is kept.
    crate::common::wait_until("the end", || browser.address().contains("/runs"));
    browser.shows("main", "watched");
    run.end();
    is_clean(&browser, &pages);
}

/// A run of two seconds, as it is typed into the form.
const TYPED: &str =
    "[typed]\nrw=randread\nbs=4k\nsize=1m\nrate_iops=2000\ntime_based=1\nruntime=2\n";

#[test]
fn a_run_is_started_labelled_and_removed_on_its_pages() {
    let directory = scratch();
    let target = directory.path().join("target");
    std::fs::create_dir(&target).unwrap();
    let pages = Pages::start(directory.path(), &["--allow-run"]);
    let browser = Browser::start();
    browser.requests();
    browser.open(&pages.way_in());
    // A mistake is told beside what was typed, which stays.
    browser.open(&pages.url("/start"));
    browser.fill("#job", "[typed]\nrw=sideways\n");
    browser.fill("#target", target.to_str().unwrap());
    browser.click("main form button");
    browser.shows("[role=alert]", "sideways");
    assert!(
        browser
            .script("return document.querySelector('#job').value")
            .as_str()
            .unwrap()
            .contains("sideways")
    );
    browser.fill("#job", TYPED);
    browser.click("main form button");
    crate::common::wait_until("its own page", || browser.address().contains("/live/"));
    crate::common::wait_until("its report", || browser.address().contains("/runs/"));
    browser.shows("main", "typed");
    let run = browser.address();
    let run = run.strip_prefix(&pages.url("")).unwrap();
    assert!(std::fs::read_dir(&target).unwrap().count() == 1, "it worked where it was told to");

    browser.fill("form[action$='/tag'] input[name=tag]", "golden");
    browser.click("form[action$='/tag'] button");
    browser.shows("a.tag", "golden");
    browser.click("main details summary");
    browser.fill("textarea[name=note]", "before the update\nof <b>firmware</b>");
    browser.click("form[action$='/note'] button");
    crate::common::wait_until("the note", || {
        let note = browser.script("return document.querySelector('textarea[name=note]').value");
        note.as_str() == Some("before the update\nof <b>firmware</b>")
            && browser.script("return document.querySelector('main details').open") == true
    });
    look(&browser, &pages, "run", run);
    browser.click("a.tag");
    browser.shows("caption", "1 to 1 of 1");
    browser.shows("tbody th", "before the update");
    browser.open(&pages.url(run));
    browser.click("form[action$='/untag'] button");
    crate::common::wait_until("no tag", || browser.count("a.tag") == 0);
    browser.click("a[href$='/remove']");
    browser.shows("h1", "Remove typed?");
    browser.click("button.danger");
    browser.shows("main", "The archive is empty");
    is_clean(&browser, &pages);
}

#[test]
fn a_sweep_is_drawn_by_the_figure_that_is_chosen() {
    let directory = scratch();
    let vary = ["--vary", "bs=4k,16k,64k", "--vary", "iodepth=1,4", "--repeat=1"];
    let job = ["--name=swept", "--rw=randread", "--ioengine=null", "--size=256k", "--eta=never"];
    archived(directory.path(), "sweep", &[&vary[..], &job].concat());
    let pages = Pages::start(directory.path(), &[]);
    let browser = Browser::start();
    browser.requests();
    browser.open(&pages.way_in());
    browser.click("a.tag[href^='/sets/']");
    browser.shows("main h2", "");
    let before = browser.count("figure svg");
    browser.script("document.querySelector('#metric').value = 'p99'");
    browser.click("main form button");
    crate::common::wait_until("the choice", || browser.address().ends_with("?metric=p99"));
    assert_eq!(browser.script("return document.querySelector('#metric').value"), "p99");
    assert!(browser.count("figure svg") > before, "a heat map and a landscape more");
    let titles = browser.script("return document.querySelector('figure svg').textContent");
    assert!(titles.as_str().unwrap().contains("p99"), "{titles}");
    let set = browser.address();
    look(&browser, &pages, "sweep", set.strip_prefix(&pages.url("")).unwrap());
    // Its runs can be chosen and compared like others.
    browser.click("[data-rows] tbody tr:nth-child(1) input");
    browser.click("[data-rows] tbody tr:nth-child(2) input");
    browser.shows("[data-count]", "2 chosen");
    browser.click("[data-needs]");
    browser.shows("main > p", "Comparison");
    is_clean(&browser, &pages);
}
