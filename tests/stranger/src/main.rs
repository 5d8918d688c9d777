//! A program of someone who knows only the documentation of `tailspn`: it reads a net, simulates it, solves it, estimates a
//! job with a deadline, runs a sweep, and renders a page.
//!
//! It depends on nothing else and has no workaround; its tests compare the numbers with closed forms.

use tailspn::prelude::*;

/// A machine that fails every 10 h and is repaired in 2 h, as PNML that an editor might have written.
const MACHINE: &str = r#"<pnml><net id="machine" type="P/T net">
<place id="works"><initialMarking><value>Default,1</value></initialMarking></place>
<place id="broken"/>
<transition id="fail"><timed><value>true</value></timed><rate><value>0.1</value></rate></transition>
<transition id="repair"><timed><value>true</value></timed><rate><value>0.5</value></rate></transition>
<arc id="a1" source="works" target="fail"/><arc id="a2" source="fail" target="broken"/>
<arc id="a3" source="broken" target="repair"/><arc id="a4" source="repair" target="works"/>
</net></pnml>"#;

/// Numbers about the machine; times in hours.
struct Machine {
    first_failure: Measured,
    exact_first_failure: Measured,
    works_simulated: Measured,
    works: f64,
    repairs_per_hour: Measured,
    works_after_a_day: f64,
}

fn machine() -> Result<Machine, tailspn::Error> {
    let net = Net::read(MACHINE)?;
    let until_failure = net.simulation().until("#(broken) >= 1")?.replications(50_000).seed(1).run()?;
    let month = net.simulation().until_time(720.0).tokens().throughputs().replications(2_000).seed(1).run()?;
    let at = net.solution().at(&[24.0])?;
    Ok(Machine {
        first_failure: until_failure.passage().mean(),
        exact_first_failure: net.solution().until("#(broken) >= 1")?.passage()?.mean()?,
        works_simulated: month.tokens("works")?,
        works: net.solution().steady_state()?.tokens("works")?,
        repairs_per_hour: month.throughput("repair")?,
        works_after_a_day: at[0].tokens("works")?,
    })
}

/// The default job of the paper, all tasks at once, with a deadline.
fn job(deadline_s: f64) -> Result<EstimatedJob, tailspn::Error> {
    Ok(JobPlan::default().input_size("10GB".parse()?).slots(false).deadline(deadline_s).estimate()?)
}

/// Mean job time \[s\] with 40 (the base), 20 and 80 reduce tasks.
fn sweep() -> Result<Vec<f64>, tailspn::Error> {
    let sweep = Sweep::of_job(JobPlan::default().slots(false))?.axis(Axis::values("job.reduces", [20, 80]));
    let outcome = sweep.run(&Unwatched)?;
    let points = [outcome.points().next(), outcome.point([20]), outcome.point([80])];
    Ok(points.into_iter().filter_map(|point| Some(point?.mean_s.as_ref()?.value)).collect())
}

fn main() -> Result<(), tailspn::Error> {
    let machine = machine()?;
    println!("first failure   {} h, exactly {}", machine.first_failure, machine.exact_first_failure);
    println!("works           {} of the time, exactly {}", machine.works_simulated, machine.works);
    println!("repairs         {} per hour", machine.repairs_per_hour);
    println!("after a day     {}", machine.works_after_a_day);
    let job = job(90.0)?;
    println!("job             {} s; done within 90 s with probability {}", job.mean(), job.done_by(90.0));
    println!("reduce tasks    40, 20 and 80: {:.1?} s", sweep()?);
    println!("page            {} bytes", Answer::of_job(&job)?.document().page()?.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within five standard errors: 2.5 half widths of a 95% interval.
    fn assert_near(number: &Measured, exact: f64) {
        let reach = 2.5 * number.half_width().unwrap();
        assert!((number.value - exact).abs() < reach && reach < 0.1 * exact, "{number} {exact}");
    }

    #[test]
    fn a_machine_fails_and_works_as_the_closed_forms_say() {
        let machine = machine().unwrap();
        let states = Net::read(MACHINE).unwrap().solution().states().unwrap();
        assert!(states.is_live() && states.is_reversible() && states.count() == 2);
        assert_near(&machine.first_failure, 10.0);
        assert!((machine.exact_first_failure.value - 10.0).abs() < 1e-10);
        // μ/(λ + μ), and λ/(λ + μ) e^{-(λ + μ) t} more at the time t after a start that works
        let (steady, rest) = (5.0 / 6.0, 1.0 / 6.0);
        assert!((machine.works - steady).abs() < 1e-12);
        assert!((machine.works_after_a_day - (steady + rest * (-0.6 * 24.0_f64).exp())).abs() < 1e-10);
        // the start adds (1 - e^{-(λ + μ) T}) / (λ + μ) hours of the excess
        let month = steady + rest / (0.6 * 720.0);
        assert_near(&machine.works_simulated, month);
        assert_near(&machine.repairs_per_hour, 0.5 * (1.0 - month));
    }

    #[test]
    fn the_default_job_meets_its_deadline_as_often_as_the_exact_distribution_says() {
        let job = job(90.0).unwrap();
        assert!((job.mean().value - 85.236).abs() < 0.001 && job.mean().is_exact(), "{}", job.mean());
        let met = job.done_by(90.0);
        assert!((0.6..0.75).contains(&met.value), "{met}");
        // the quantile of that probability is the deadline
        assert!((job.quantile(met.value).value - 90.0).abs() < 0.01);
        let answer = Answer::of_job(&job).unwrap();
        let page = answer.document().page().unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("within 90 s"));
        let text = answer.document().text().replace('\n', " ");
        assert!(text.contains("It meets the deadline of 90 s with 68% probability."), "{text}");
    }

    #[test]
    fn a_sweep_gives_the_exact_means_within_their_error() {
        let found = sweep().unwrap();
        let exact = [40, 20, 80]
            .map(|reduces| JobPlan::default().slots(false).reduces(reduces).estimate().unwrap().mean().value);
        assert_eq!(found.len(), exact.len());
        // five standard errors of 2,000 job times that differ by 16%
        let near = |(found, exact): (&f64, &f64)| (found - exact).abs() < 0.02 * exact;
        assert!(found.iter().zip(&exact).all(near), "{found:?} {exact:?}");
    }

    type Boxed = Box<dyn std::error::Error + Send + Sync>;

    /// Every stage, as functions that fail with `?` into an error type.
    macro_rules! stages {
        ($error:ty) => {{
            let stages: [fn() -> Result<(), $error>; 10] = [
                || {
                    Net::open("no such file")?;
                    Ok(())
                },
                || {
                    Net::read("<pnml>")?;
                    Ok(())
                },
                || {
                    let mut twice = NetBuilder::new("");
                    twice.place("p", 0);
                    twice.place("p", 0);
                    twice.build()?;
                    Ok(())
                },
                || {
                    Net::read(MACHINE)?.simulation().until("#(x)")?.run()?;
                    Ok(())
                },
                || {
                    Net::read(MACHINE)?.solution().until("#(broken) >= 2")?.passage()?.quantile(2.0)?;
                    Ok(())
                },
                || {
                    JobPlan::open("no such file")?;
                    Ok(())
                },
                || {
                    JobPlan::from_toml("x = 1")?;
                    Ok(())
                },
                || {
                    JobPlan::default().input_size("10".parse()?).estimate()?;
                    Ok(())
                },
                || {
                    JobPlan::default().executors(3).estimate()?;
                    Ok(())
                },
                || {
                    Sweep::of_job(JobPlan::default())?.run(&Unwatched)?;
                    Ok(())
                },
            ];
            stages
        }};
    }

    #[test]
    fn errors_of_every_stage_become_boxed_errors_and_errors_of_anyhow() {
        for (i, (boxed, any)) in stages!(Boxed).into_iter().zip(stages!(anyhow::Error)).enumerate() {
            let error = boxed().unwrap_err().to_string();
            assert!(!error.is_empty(), "stage {i}");
            assert_eq!(any().unwrap_err().to_string(), error);
            let ours = tailspn::Error::from(std::io::Error::other(error.clone()));
            assert_eq!(Boxed::from(ours).to_string(), error);
        }
    }

    #[test]
    fn mistakes_have_readable_messages() {
        let net = Net::read(MACHINE).unwrap();
        let unknown = net.simulation().until("#(done) >= 1").unwrap_err();
        assert_eq!(unknown.to_string(), "there is no place `done`");
        let run = net.simulation().until("#(broken) >= 1").unwrap().replications(100).run().unwrap();
        let missing = run.tokens("works").unwrap_err();
        assert_eq!(missing.to_string(), "tokens were not observed; call `tokens()` before the run");
        let name = run.throughput("halt").unwrap_err();
        assert_eq!(name.to_string(), "unknown transition `halt`; the first available names are `fail`, `repair`");
    }
}
