//! The pages of `serve` in a real browser: what a click, a key or a changed field does, and who can use them.

#![cfg(unix)]

use serde_json::{Value, json};
use tailspn::compile::{Program, compile};
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::net::{Net, NetBuilder, Point, Timing};

use crate::browser::{Browser, ENTER, ESCAPE, TAB};
use crate::cli::data;
use crate::serve::{Server, fired, moves, printed};

const LOG: &str = "tests/data/trace/sort-64mb.spark.gz";

/// A page of `serve`, and the server behind it.
fn open(args: &[&str]) -> (Server, Browser) {
    let server = Server::start(args);
    let page = Browser::open(&server.address());
    (server, page)
}

/// The marking in the table of the page, after it shows so many firings.
fn marking(page: &Browser, firings: usize) -> Vec<u32> {
    page.wait(&format!(r"/(^|\D){firings} firing/.test(document.querySelector('.status')?.textContent)"));
    let cells = page.script(
        "return [...document.querySelectorAll('.marking td:not(:first-child)')].map((cell) => cell.textContent)",
    );
    cells.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().parse().unwrap()).collect()
}

/// The highlighted transitions of the picture, in the order of the net.
fn highlighted(page: &Browser) -> Vec<String> {
    let ids = page.script("return [...document.querySelectorAll('rect.movable')].map((box) => box.dataset.transition)");
    ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn in_order_of(program: &Program, mut names: Vec<String>) -> Vec<String> {
    names.sort_by_key(|name| program.transition_names.position(name));
    names
}

#[test]
fn clicks_and_keys_fire_what_the_library_fires() {
    let path = "models/textbook/immediate_conflict.xml";
    let program = compile(&Net::open(path).unwrap()).unwrap();
    let (_server, page) = open(&[path]);
    let mut expected = vec![program.initial.clone()];
    for _ in 0..4 {
        let last = expected.last().unwrap();
        assert_eq!(&marking(&page, expected.len() - 1), last);
        let can = moves(&program, last);
        assert_eq!(highlighted(&page), in_order_of(&program, can.clone()));
        page.click(&format!("rect[data-transition='{}']", can[0]));
        expected.push(fired(&program, &can[0], last));
    }
    // a click on a transition that cannot fire does nothing
    let last = expected.last().unwrap().clone();
    let other =
        program.transition_names.iter().find(|name| !moves(&program, &last).iter().any(|own| own == name)).unwrap();
    page.click(&format!("rect[data-transition='{other}']"));
    assert_eq!(marking(&page, 4), last);

    for (button, firings) in [("Undo", 3), ("Undo", 2), ("Redo", 3), ("Restart", 0)] {
        page.click(&format!("//button[text()='{button}']"));
        assert_eq!(marking(&page, firings), expected[firings], "{button}");
    }

    // Tab goes from the last button before the picture to the first transition that can fire
    page.script("document.querySelector('input[type=number]').focus()");
    let focus = "return document.activeElement.dataset.transition ?? null";
    let reached = (0..20).find_map(|_| {
        page.press(TAB);
        page.script(focus).as_str().map(str::to_owned)
    });
    let first = &highlighted(&page)[0];
    assert_eq!(reached.as_ref(), Some(first));
    page.press(ENTER);
    assert_eq!(marking(&page, 1), fired(&program, first, &program.initial));

    // a drag moves the picture and fires nothing
    page.click("//button[text()='Zoom in']");
    let place = "return document.querySelector('circle.place').getBoundingClientRect().x";
    let before = page.script(place).as_f64().unwrap();
    page.drag(&format!("rect[data-transition='{}']", highlighted(&page)[0]), [-50, -20]);
    assert!((before - 50.0 - page.script(place).as_f64().unwrap()).abs() < 2.0);
    marking(&page, 1);
    page.assert_no_errors();
}

/// Classes have their colours, more than five tokens a number, and inhibitor arcs a ring.
#[test]
fn tokens_have_the_colours_of_their_classes() {
    let path = "models/textbook/two_classes.xml";
    let program = compile(&Net::open(path).unwrap()).unwrap();
    let (_server, page) = open(&[path]);
    let mut now = marking(&page, 0);
    for firings in 0..4 {
        let drawn = page.script(
            "return [...document.querySelectorAll('circle.place')].map((place) =>
               [...place.nextElementSibling.children].map((one) => [one.style.fill, one.tagName === 'text' ? Number(one.textContent) : 1]))",
        );
        for (place, drawn) in drawn.as_array().unwrap().iter().enumerate() {
            let of = |colour: &str| -> u64 {
                let own = drawn.as_array().unwrap().iter().filter(|one| one[0] == colour);
                own.map(|one| one[1].as_u64().unwrap()).sum()
            };
            let counts = [of("rgb(0, 0, 0)"), of("rgb(255, 0, 0)")];
            assert_eq!(counts, [0, 1].map(|class| u64::from(now[2 * place + class])), "{now:?} {drawn}");
        }
        let can = highlighted(&page);
        page.click(&format!("rect[data-transition='{}']", can[firings % can.len()]));
        let after = fired(&program, &can[firings % can.len()], &now);
        now = marking(&page, firings + 1);
        assert_eq!(now, after);
    }
    assert!(page.script("return document.querySelectorAll('.picture .ring').length").as_u64().unwrap() > 0);
    page.assert_no_errors();
}

/// The page plays a recorded run to the simulator's end, and the slider goes back to any of its firings.
#[test]
fn a_recorded_run_is_played_and_searched() {
    let path = "models/textbook/small_job.xml";
    let (_server, page) = open(&[path]);
    marking(&page, 0);
    page.fill("//label[contains(., 'Seed')]/input", "9");
    page.fill("//label[contains(., 'Firings per second')]/input", "1000");
    page.click("//button[text()='Record']");
    page.wait("document.body.textContent.includes('Recorded ')");
    page.click("//button[text()='Play']");
    page.wait("document.querySelector('.status').textContent.includes('dead')");
    let firings = page.script("return Number(document.querySelector('input[type=range]').value)").as_u64().unwrap();
    let simulated = printed(&["net", "simulate", path, "--no-fold", "--reps", "1", "--seed", "9", "--json"]);
    let time = simulated["passage_time"]["mean"]["value"].as_f64().unwrap();
    let status = page.script("return document.querySelector('.status').textContent");
    let shown = status.as_str().unwrap().split("model time ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_same_digits(&shown, time);
    let end = marking(&page, firings as usize);
    let back = "const slider = document.querySelector('input[type=range]'); slider.value = 3; slider.dispatchEvent(new Event('input'))";
    page.script(back);
    let third = marking(&page, 3);
    assert_ne!(third, end);
    page.click("//button[text()='Restart']");
    assert_eq!(marking(&page, 0), compile(&Net::open(path).unwrap()).unwrap().initial);
    page.assert_no_errors();
}

/// A number of the page has the digits of the value.
fn assert_same_digits(shown: &str, value: f64) {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap();
    assert_eq!(shown.parse::<f64>().ok(), Some(rounded), "{shown} in place of {value}");
}

/// A formula's firing sequence becomes a history, an edited rate changes the table, and the invariants stay what they are.
#[test]
fn questions_below_the_net_are_answered_and_replayed() {
    let path = "models/textbook/kanban.xml";
    let program = compile(&Net::open(path).unwrap()).unwrap();
    let (_server, page) = open(&[path]);
    marking(&page, 0);
    page.wait("document.querySelectorAll('.invariants tbody tr').length > 0");
    let invariants = "return [...document.querySelectorAll('.invariants tbody tr')].map((row) => row.textContent)";
    let before = page.script(invariants);

    let place = &program.place_names[program.place_names.len() - 1];
    page.click("details.untimed summary");
    page.fill("details.untimed input", &format!("EF (#({place}) == 1)"));
    page.click("details.untimed button");
    page.wait("document.querySelector('details.untimed .report')");
    let shown = page.script("return document.querySelector('details.untimed .report').shadowRoot.textContent");
    assert!(shown.as_str().unwrap().contains("EF"), "{shown}");
    page.script("[...document.querySelectorAll('details.untimed button')].find((one) => one.textContent.startsWith('Replay')).click()");
    page.wait(
        "document.body.textContent.includes('Replay of ') && !document.querySelector('input[type=range]').disabled",
    );
    page.click("//button[text()='Redo']");
    assert_ne!(marking(&page, 1), program.initial);
    assert_eq!(page.script(invariants), before);

    page.click("details.rates summary");
    let transition = &highlighted(&page)[0];
    let input = format!("input[aria-label$=' of {transition}']");
    page.fill(&input, "7.25");
    page.press(TAB);
    page.wait("document.querySelector('.moves').textContent.includes('rate 7.25 per s')");
    page.assert_no_errors();
}

/// The value in the row of a table that starts with this name.
fn cell(page: &Browser, name: &str) -> String {
    let script = format!(
        "return [...document.querySelectorAll('tr')].find((row) => row.cells[0].textContent.startsWith('{name}'))?.cells[1].textContent"
    );
    let text = page.script(&script);
    text.as_str().unwrap_or_else(|| panic!("no row {name}")).split([' ', '%']).next().unwrap().to_owned()
}

/// Waits until the page shows all replications of the present values.
fn wait_for_replications(page: &Browser, count: u32) {
    page.wait(&format!(
        "[...document.querySelectorAll('.status')].some((one) => one.textContent === '{count} replications.') \
         && !document.querySelector('.waiting')"
    ));
}

/// Waits until the page shows a command with this part.
fn wait_for_command(page: &Browser, part: &str) {
    page.wait(&format!("[...document.querySelectorAll('code')].some((one) => one.textContent.includes('{part}'))"));
}

/// Moves the slider of a field, and returns the value that the field then has.
fn slide(page: &Browser, label: &str, place: u32) -> String {
    let script = format!(
        "const slider = document.querySelector(`input[aria-label='{label}, slider']`); slider.value = {place}; \
         slider.dispatchEvent(new Event('input')); return slider.parentElement.querySelector('input').value"
    );
    page.script(&script).as_str().unwrap().to_owned()
}

const JOB: &str = "[job]\ninput_mb = 1280\nreduces = 4\ndeadline_s = 500\n[model]\nslots = true\n";

/// A pinned plan stays on the page, with the paired difference that the server's answer to the same question has.
#[test]
fn pinned_values_stay_and_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.toml");
    std::fs::write(&path, JOB).unwrap();
    let (server, page) = open(&[path.to_str().unwrap()]);
    page.fill("//label[contains(., 'Seed')]//input", "5");
    page.fill("//label[contains(., 'Replications')]//input", "300");
    page.fill("//label[contains(., 'Input size')]//input", "9GB");
    wait_for_replications(&page, 300);
    page.click("//button[text()='Pin these values']");
    page.fill("//label[contains(., 'Workers')]//input", "9");
    wait_for_command(&page, "--workers=9 ");
    wait_for_replications(&page, 300);
    let question = json!({
        "options": { "input-size": "9GB", "workers": "9" }, "pinned": { "input-size": "9GB" }, "reps": 300, "seed": 5
    });
    let expected = server.found("/job/estimate", &question);
    let pinned = &expected["pinned"];
    assert!(pinned["difference_s"].as_f64().unwrap() < 0.0);
    assert_same_digits(&cell(&page, "mean time, now minus pinned"), pinned["difference_s"].as_f64().unwrap());
    let of_pinned = pinned["result"]["job_time"]["mean"]["value"].as_f64().unwrap();
    assert_same_digits(&cell(&page, "mean of the pinned values"), of_pinned);
    let now = expected["result"]["job_time"]["mean"]["value"].as_f64().unwrap();
    assert_same_digits(&cell(&page, "mean, simulated"), now);
    page.click("//button[text()='Unpin']");
    page.wait("!document.body.textContent.includes('Compared with the pinned values')");
    page.assert_no_errors();
}

/// A long search shows its progress until it is stopped; a short one shows what `optimize` finds.
#[test]
fn the_cheapest_plan_is_searched_with_progress() {
    // 16,000 maps, and a deadline that only a thousand workers meet
    let (_server, page) = open(&[]);
    page.fill("//label[contains(., 'Replications')]//input", "2");
    page.fill("//label[contains(., 'Deadline')]//input", "160s");
    page.fill("//label[contains(., 'Input size')]//input", "1000GB");
    wait_for_command(&page, "1000GB --reps=2");
    let start = "//button[starts-with(text(), 'Cheapest plan')]";
    page.click(start);
    page.wait("!document.querySelector('progress').hidden && document.querySelector('progress').max > 1");
    page.click("//button[text()='Stop']");
    page.wait("document.querySelector('progress').hidden && document.querySelector('section :is(.report, .problem)')");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.toml");
    std::fs::write(&path, JOB).unwrap();
    let path = path.to_str().unwrap();
    let (_server, page) = open(&[path]);
    wait_for_replications(&page, 2000);
    page.fill("//label[contains(., 'Price')]//input", "0.40/node-hour");
    page.click(start);
    page.wait("document.querySelector('progress').hidden && document.querySelector('section .report')");
    let shown = page.script("return document.querySelector('section .report').shadowRoot.textContent");
    let shown = shown.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let text = data(&["study", path, "--price", "0.40/node-hour"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let chosen = text.split("meets the deadline: ").nth(1).unwrap().split(", p95").next().unwrap();
    let chosen = chosen.replace(['(', ')'], "");
    assert!(chosen.starts_with("workers = ") && shown.contains(&chosen), "{chosen}\n{shown}");
    page.assert_no_errors();
}

/// The numbers of a fitted plan after moves of sliders are those of `estimate` with the same seed.
#[test]
fn a_fitted_plan_has_sliders() {
    let (_server, page) = open(&[LOG]);
    page.wait("document.querySelector('.timeline svg')");
    page.click("//button[text()='Fit a plan']");
    wait_for_replications(&page, 2000);
    page.fill("//label[contains(., 'Seed')]//input", "4");
    page.fill("//label[contains(., 'Replications')]//input", "300");
    wait_for_replications(&page, 300);
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.toml");
    std::fs::write(&plan, data(&["tool", "fit", LOG, "--save-plan", "-"])).unwrap();
    let mut args: Vec<String> =
        ["estimate", plan.to_str().unwrap(), "--reps=300", "--seed=4", "--json"].map(str::to_owned).into();
    for (label, option, place) in
        [("Executors", "executors", 6), ("Input size", "input-size", 20), ("Speculation", "speculation", 2)]
    {
        let value = slide(&page, label, place);
        args.push(format!("--{option}={value}"));
        wait_for_command(&page, &format!("--{option}={value} "));
        wait_for_replications(&page, 300);
        let expected = printed(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_same_digits(&cell(&page, "mean of a typical run"), expected["usual_mean"]["value"].as_f64().unwrap());
        assert_same_digits(&cell(&page, "mean of the next run"), expected["mean_s"].as_f64().unwrap());
        let quantiles = expected["quantiles"].as_array().unwrap();
        let p95 = quantiles.iter().find(|one| one["p"] == 0.95).unwrap()["value_s"].as_f64().unwrap();
        assert_same_digits(&cell(&page, "p95 of the next run"), p95);
    }
    page.assert_no_errors();
}

/// A click zooms to one task, and its numbers are those of the log.
#[test]
fn the_timeline_zooms_to_a_task() {
    let (_server, page) = open(&[LOG]);
    page.wait("document.querySelector('.timeline svg') && document.body.textContent.includes('Select a task')");
    let bars = "[...document.querySelectorAll('.timeline rect')].filter((one) => one.querySelector('title'))";
    let box_of = "document.querySelector('.timeline svg').viewBox.baseVal";
    let whole = page.script(&format!("return {box_of}.width")).as_f64().unwrap();
    page.script(&format!("{bars}.find((one) => one.textContent.includes('stage 0, task 3,')).id = 'chosen-by-test'"));
    page.click("#chosen-by-test");
    page.wait("document.querySelector('.chosen')?.id === 'chosen-by-test'");
    let status = page.script("return document.querySelector('.status').textContent");
    let status = status.as_str().unwrap();
    let zoomed = page.script(&format!("return {box_of}.width")).as_f64().unwrap();
    assert!(zoomed < 0.9 * whole, "{zoomed} {whole}");
    let seen = page.script(
        "const [bar, frame] = ['.chosen', '.timeline'].map((one) => document.querySelector(one).getBoundingClientRect()); \
         return bar.left >= frame.left && bar.right <= frame.right && bar.width > 0.1 * frame.width",
    );
    assert_eq!(seen, json!(true), "{status}");
    // the time between start and end of that task in the log
    let text = crate::remaining::Log::read(std::path::Path::new(LOG)).cut(1.0);
    let events =
        (text.text + &text.rest).lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    let end = events.iter().find(|event| event["Event"] == "SparkListenerTaskEnd" && event["Task Info"]["Index"] == 3);
    let end = end.unwrap();
    let time = |key: &str| end["Task Info"][key].as_f64().unwrap();
    let seconds = (time("Finish Time") - time("Launch Time")) / 1000.0;
    assert_eq!(status, format!("stage 0, task 3, attempt 0: {seconds} s, success"));
    // Escape shows the whole job again
    page.script("document.querySelector('.timeline').focus()");
    page.press(ESCAPE);
    page.wait(&format!("{box_of}.width === {whole}"));
    page.assert_no_errors();
}

/// A hundred moves of a slider, each before the answer to the one before it, leave no thread.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "nightly: sixteen seconds; the test without a browser is in serve.rs"]
fn quick_changes_leave_no_thread() {
    let (server, page) = open(&[]);
    wait_for_replications(&page, 2000);
    let before = server.threads();
    page.script(
        "return new Promise((done) => {
           const slider = document.querySelector(`input[aria-label='Workers, slider']`);
           let moves = 0;
           const move = () => {
             slider.value = moves % Number(slider.max);
             slider.dispatchEvent(new Event('input'));
             moves += 1;
             if (moves === 100) done(); else setTimeout(move, 5);
           };
           move();
         })",
    );
    wait_for_replications(&page, 2000);
    server.wait_for_threads(before);
    page.assert_no_errors();
}

/// The numbers after changes of fields are those of the command with the same seed.
#[test]
fn the_fields_of_a_job_change_its_numbers() {
    let (_server, page) = open(&[]);
    page.wait("document.body.textContent.includes('mean, simulated')");
    page.fill("//label[contains(., 'Input size')]//input", "7GB");
    page.fill("//label[contains(., 'Seed')]//input", "11");
    page.fill("//label[contains(., 'Replications')]//input", "300");
    page.fill("//label[contains(., 'Deadline')]//input", "90s");
    wait_for_command(&page, "--deadline=90s --input-size=7GB --reps=300 --seed=11");
    let command =
        ["estimate", "--demo", "--input-size", "7GB", "--reps", "300", "--seed", "11", "--deadline", "90s", "--json"];
    let expected = printed(&command);
    let quantile = |p: f64| {
        let quantiles = expected["job_time"]["quantiles"].as_array().unwrap();
        quantiles.iter().find(|one| one["p"] == p).unwrap()["value"].as_f64().unwrap()
    };
    assert_same_digits(&cell(&page, "mean, simulated"), expected["job_time"]["mean"]["value"].as_f64().unwrap());
    assert_same_digits(&cell(&page, "p95, simulated"), quantile(0.95));
    page.wait("document.querySelector('table').textContent.includes('P(finished within 90 s), simulated')");
    let met = expected["deadline"]["simulated"]["value"].as_f64().unwrap();
    assert_same_digits(&cell(&page, "P(finished within 90 s), simulated"), 100.0 * met);
    page.assert_no_errors();
}

/// In dark colours and on a phone: nothing is wider than the page, and all controls have names for screen readers.
#[test]
fn pages_fit_a_phone_and_a_screen_reader() {
    for args in [&["models/textbook/small_job.xml"][..], &[], &["tests/data/trace/small.spark"]] {
        let (_server, page) = open(args);
        page.show_as([500, 800], "dark");
        page.wait("document.querySelector('svg, table') !== null");
        let wide = page.script("return document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= 500, "{args:?}: {wide} pixels");
        let paper = page.script("return getComputedStyle(document.body).backgroundColor");
        let sum: u32 =
            paper.as_str().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).sum();
        assert!(sum < 200, "{args:?}: {paper}");
        let nodes = page.devtools("Accessibility.getFullAXTree", &json!({}));
        let nodes = nodes["nodes"].as_array().unwrap();
        let controls =
            ["button", "textbox", "spinbutton", "slider", "checkbox", "combobox", "link", "DisclosureTriangle"];
        let is_control = |node: &&Value| controls.iter().any(|role| node["role"]["value"] == *role);
        let own: Vec<&Value> = nodes.iter().filter(is_control).collect();
        assert!(!own.is_empty(), "{args:?}");
        let nameless: Vec<_> =
            own.iter().filter(|node| node["name"]["value"].as_str().is_none_or(str::is_empty)).collect();
        assert!(nameless.is_empty(), "{args:?}: {nameless:?}");
        page.assert_no_errors();
    }
}

/// A net of 500 places and 500 transitions: rows of ten, through which tokens walk.
fn large_net() -> Net {
    let mut b = NetBuilder::new("500 places");
    let places: Vec<_> = (0..500)
        .map(|i| {
            let place = b.place(format!("p{i}"), u32::from(i % 5 == 0));
            b.place_mut(place).position = Some(Point { x: 140.0 * f64::from(i % 20), y: 90.0 * f64::from(i / 20) });
            place
        })
        .collect();
    for i in 0..500 {
        let t = b.transition(format!("t{i}"), Timing::exponential(1.0 + f64::from(i % 7)));
        let at = Point { x: 140.0 * f64::from(i % 20) + 70.0, y: 90.0 * f64::from(i / 20) };
        b.transition_mut(t).position = Some(at);
        b.input(places[i as usize], t, 1.0);
        b.output(t, places[(i as usize + 1) % 500], 1.0);
    }
    b.build().unwrap()
}

/// Prints the frames per second while the picture of 500 places is dragged, and while a run is played. The limit only catches a page
/// that stands still: Chromium draws in software here, and other tests run at the same time.
#[test]
fn a_net_of_500_places_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.xml");
    std::fs::write(&path, write(&large_net(), &WriteOptions::default()).xml).unwrap();
    let (_server, page) = open(&[path.to_str().unwrap()]);
    assert_eq!(marking(&page, 0).len(), 500);
    assert_eq!(page.script("return document.querySelectorAll('.picture circle.place').length"), json!(500));
    for _ in 0..2 {
        page.click("//button[text()='Zoom in']");
    }
    let frames = |each: &str| {
        let script = format!(
            "return new Promise((done) => {{
               const svg = document.querySelector('.picture svg');
               let [frames, started] = [0, null];
               const frame = (time) => {{
                 started ??= time;
                 if (time - started >= 2000) return done(frames * 1000 / (time - started));
                 frames += 1;
                 {each}
                 requestAnimationFrame(frame);
               }};
               requestAnimationFrame(frame);
             }})"
        );
        page.script(&script).as_f64().unwrap()
    };
    let place = "return document.querySelector('circle.place').getBoundingClientRect().x";
    let before = page.script(place);
    let drag = "svg.dispatchEvent(new PointerEvent('pointermove', \
                { buttons: 1, movementX: frames % 80 < 50 ? 4 : -4, movementY: frames % 60 < 30 ? 2 : -2 }));";
    let dragged = frames(drag);
    assert_ne!(page.script(place), before);
    page.fill("//label[contains(., 'Firings per second')]/input", "60");
    page.click("//button[text()='Play']");
    page.wait("Number(document.querySelector('input[type=range]').value) > 0");
    let fired = "return Number(document.querySelector('input[type=range]').value)";
    let first = page.script(fired).as_u64().unwrap();
    let played = frames("");
    let firings = page.script(fired).as_u64().unwrap() - first;
    println!("{dragged:.0} frames per second while dragged, {played:.0} while playing ({firings} firings in 2 s)");
    assert!(dragged > 2.0 && played > 2.0 && firings > 20, "{dragged} {played} {firings}");
    page.assert_no_errors();
}

/// Opens everything that can be opened, and lets axe-core check the page; its file is named by `TAILSPN_AXE`.
#[test]
#[ignore = "needs axe-core, which `.ci/nightly` fetches"]
fn axe_finds_nothing_serious() {
    let file = std::env::var("TAILSPN_AXE").expect("TAILSPN_AXE names axe.min.js of axe-core");
    let axe = std::fs::read_to_string(file).unwrap();
    for args in [&["models/textbook/immediate_conflict.xml"][..], &[], &["tests/data/trace/small.spark"]] {
        for colours in ["light", "dark"] {
            let (_server, page) = open(args);
            page.show_as([1200, 900], colours);
            page.wait("document.querySelector('svg') && !document.querySelector('.waiting') && !document.body.textContent.includes('…')");
            page.script("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
            page.script(&axe);
            let found = page.script(
                "return axe.run().then(({ passes, violations }) => [passes.length, violations
                   .filter(({ impact }) => ['serious', 'critical'].includes(impact))
                   .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 5).map(({ html }) => html).join(' ')}`)])",
            );
            assert!(found[0].as_u64().unwrap() > 10, "axe-core checked nothing: {found}");
            assert_eq!(found[1], json!([]), "{args:?}, {colours}");
        }
    }
}
