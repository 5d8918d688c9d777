use tailspn::{compile::*, net::*, sim::*};
fn main() {
    let (m, r) = (160, 40);
    let means = [5., 1., 2., 8., 1., 3., 6., 2., 7.];
    let mut b = NetBuilder::new("");
    let start = b.place("start", 1);
    let load = b.transition("load", Timing::exponential(1. / means[0]));
    b.input(start, load, 1.0);
    let spilled = b.place("spilled", 0);
    for j in 0..m {
        let mut p = b.place(format!("m{j}_0"), 0);
        b.output(load, p, 1.0);
        for k in 0..5 {
            let t = b.transition(format!("tm{j}_{k}"), Timing::exponential(1. / means[1 + k]));
            b.input(p, t, 1.0);
            p = if k == 4 { spilled } else { b.place(format!("m{j}_{}", k + 1), 0) };
            b.output(t, p, 1.0);
        }
    }
    let shuffle = b.transition("shuffle", Timing::exponential(1. / means[6]));
    b.input(spilled, shuffle, m as f64);
    for j in 0..r {
        let mut p = b.place(format!("r{j}_0"), 0);
        b.output(shuffle, p, 1.0);
        for k in 0..2 {
            let t = b.transition(format!("tr{j}_{k}"), Timing::exponential(1. / means[7 + k]));
            b.input(p, t, 1.0);
            p = b.place(format!("r{j}_{}", k + 1), 0);
            b.output(t, p, 1.0);
        }
    }
    let net = b.build().unwrap();
    let program = compile(&net).unwrap();
    let plan = plan_schedule(&program).unwrap();
    let q = Question::default();
    let s = Schedule::new(&program, &plan, &q, 1);
    let mut samples = Samples::new(Clock::choose(&program, None), &q, program.counters(), program.transitions());
    let n = 500_000;
    let t = std::time::Instant::now();
    s.go(n, &mut samples);
    let e = t.elapsed().as_secs_f64();
    println!("slots {} {:.3e} reps/s {:.3e} firings/s", plan.slots, n as f64 / e, samples.firings as f64 / e);
    let c = samples.clock;
    println!("mean {} sd {}", samples.passage.mean() * c.tick(), samples.passage.variance().sqrt() * c.tick());
}
