//! What a world knows of the attempts of a job that ran: where the first attempt of a task was, how slow each node is.

/// What a world knows of the attempts of such a job.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) first: Vec<Option<(usize, f64)>>,
    pub(super) usual: Vec<f64>,
    pub(super) stage: Vec<u32>,
    pub(super) slowness: Vec<Vec<f64>>,
    pub(super) ratios: Vec<Vec<f64>>,
    pub(super) end_s: f64,
}

impl Known {
    /// The node that a task's first attempt belongs to.
    pub(super) fn home(&self, task: u32) -> Option<usize> {
        self.first[task as usize].map(|(home, _)| home)
    }

    /// Work of an attempt that begins on a node, after so many others of its task; `word` draws what is not known.
    pub(super) fn work(&self, task: u32, node: usize, before: u32, word: u32) -> f64 {
        let stage = self.stage[task as usize] as usize;
        let slowness = &self.slowness[stage];
        if let Some((home, work)) = self.first[task as usize].filter(|_| before == 0) {
            return if home == node { work } else { work * slowness[node] / slowness[home] };
        }
        let ratios = &self.ratios[stage];
        let drawn = ((u64::from(word) * ratios.len() as u64) >> 32) as usize;
        self.usual[task as usize] * slowness[node] * ratios[drawn]
    }
}
