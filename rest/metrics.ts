import { setTimeout as after } from 'node:timers/promises';

/** Bounded: an operation name, `mcp` tool name or one of a fixed set of words; never text from a request. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** The value that a scrape reads: one number, or one for each of some labels. */
export type Read = () => number | readonly Sample[] | Promise<number | readonly Sample[]>;

export interface Metrics {
  /** A metric is there from the start, also before anything is counted, and so are the series that are named, at zero. */
  declare(name: string, type: 'counter' | 'histogram', help: string, series?: readonly Labels[]): void;
  count(name: string, help: string, labels: Labels, by?: number): void;
  /** Seconds; cumulative buckets from 1 ms to 10 s. */
  observe(name: string, help: string, labels: Labels, seconds: number): void;
  /** Read at each scrape. One that fails, or is not read in half a second, shows what was read last, and is counted. */
  gauge(name: string, help: string, read: Read): void;
  /** As `gauge`, of a number that only rises and is counted elsewhere. */
  counter(name: string, help: string, read: Read): void;
  /** Whole metrics in the text format that others keep; asked for at each scrape. */
  append(text: () => Promise<string>): void;
  /** The Prometheus text format, version 0.0.4. */
  render(): Promise<string>;
}

/** A part that does not answer a scrape by then is shown as it was. */
const ANSWER_MS = 500;
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** Series of one metric; more than operations x statuses ever make. Past it, samples are dropped and counted. */
const MAX_SERIES = 4_096;

interface Histogram {
  readonly labels: Labels;
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** A registry of counters, histograms and gauges for one process. */
export function createMetrics(): Metrics {
  const helps = new Map<string, string>();
  const counters = new Map<string, Map<string, { labels: Labels; value: number }>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const readings = new Map<
    string,
    { readonly type: 'counter' | 'gauge'; readonly read: LastKnown<readonly Sample[]> }
  >();
  const appended: LastKnown<string>[] = [];
  let dropped = 0;
  let failed = 0;
  const countFailure = () => {
    failed += 1;
  };
  const keep = (name: string, type: 'counter' | 'gauge', read: Read) =>
    readings.set(name, {
      type,
      read: lastKnown(async () => samplesOf(await read()), countFailure),
    });

  function seriesOf<T>(
    metrics: Map<string, Map<string, T>>,
    name: string,
    help: string,
    labels: Labels,
    make: () => T,
  ) {
    let all = metrics.get(name);
    if (!all) {
      all = new Map();
      metrics.set(name, all);
    }
    helps.set(name, help);
    const key = Object.values(labels).join('\u0000');
    const known = all.get(key);
    if (known) return known;
    if (all.size >= MAX_SERIES) {
      dropped++;
      return undefined;
    }
    const fresh = make();
    all.set(key, fresh);
    return fresh;
  }

  return {
    declare(name, type, help, series = []) {
      helps.set(name, help);
      const metrics: Map<string, unknown> = type === 'counter' ? counters : histograms;
      if (!metrics.has(name)) metrics.set(name, new Map());
      for (const labels of series) {
        if (type === 'counter') seriesOf(counters, name, help, labels, () => ({ labels, value: 0 }));
        else seriesOf(histograms, name, help, labels, () => emptyHistogram(labels));
      }
    },
    count(name, help, labels, by = 1) {
      const series = seriesOf(counters, name, help, labels, () => ({ labels, value: 0 }));
      if (series) series.value += by;
    },
    observe(name, help, labels, seconds) {
      const series = seriesOf(histograms, name, help, labels, () => emptyHistogram(labels));
      if (!series) return;
      series.sum += seconds;
      series.count++;
      const index = BUCKETS_SECONDS.findIndex((limit) => seconds <= limit);
      if (index >= 0) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    },
    gauge(name, help, read) {
      helps.set(name, help);
      keep(name, 'gauge', read);
    },
    counter(name, help, read) {
      helps.set(name, help);
      keep(name, 'counter', read);
    },
    append(text) {
      appended.push(lastKnown(text, countFailure));
    },
    async render() {
      const lines: string[] = [];
      const head = (name: string, type: string) =>
        lines.push(`# HELP ${name} ${helps.get(name) ?? ''}`, `# TYPE ${name} ${type}`);
      for (const [name, all] of counters) {
        head(name, 'counter');
        for (const { labels, value } of all.values()) lines.push(`${name}${labelText(labels)} ${value}`);
      }
      for (const [name, all] of histograms) {
        head(name, 'histogram');
        for (const series of all.values()) lines.push(...histogramLines(name, series));
      }
      const late = after(ANSWER_MS, undefined, { ref: false });
      const [texts, read] = await Promise.all([
        Promise.all(appended.map((text) => text(late))),
        Promise.all(
          [...readings].map(async ([name, each]) => ({ name, type: each.type, samples: await each.read(late) })),
        ),
      ]);
      for (const { name, type, samples } of read) {
        if (!samples) continue;
        head(name, type);
        for (const sample of samples) lines.push(`${name}${labelText(sample.labels)} ${numberText(sample.value)}`);
      }
      helps.set('mesh_metrics_dropped_total', 'Samples dropped because a metric had too many series');
      head('mesh_metrics_dropped_total', 'counter');
      lines.push(`mesh_metrics_dropped_total ${dropped}`);
      helps.set(
        'mesh_metrics_failed_total',
        'Metrics that could not be read at a scrape, which shows what they were before',
      );
      head('mesh_metrics_failed_total', 'counter');
      lines.push(`mesh_metrics_failed_total ${failed}`);
      return `${lines.join('\n')}\n${texts.join('')}`;
    },
  };
}

/** Reads by `late` at the latest; undefined where that was never done. */
type LastKnown<T> = (late: Promise<undefined>) => Promise<T | undefined>;

/** Remembers what was read last, so that a scrape is answered while a part does not answer. One read is under way at most. */
function lastKnown<T>(read: () => Promise<T>, onFailure: () => void): LastKnown<T> {
  let last: T | undefined;
  let reading: Promise<T | undefined> | undefined;
  return async (late) => {
    reading ??= read()
      .then((value) => (last = value))
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    const value = await Promise.race([reading, late]);
    if (value === undefined) onFailure();
    return value ?? last;
  };
}

function samplesOf(value: Awaited<ReturnType<Read>>): readonly Sample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

/** As the exposition format has it, which knows no `Infinity`. */
function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}

function emptyHistogram(labels: Labels): Histogram {
  return { labels, buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
}

function histogramLines(name: string, { labels, buckets, sum, count }: Histogram): string[] {
  let below = 0;
  const lines = BUCKETS_SECONDS.map((limit, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket${labelText({ ...labels, le: String(limit) })} ${below}`;
  });
  lines.push(`${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`);
  lines.push(`${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${count}`);
  return lines;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** As the text format asks: a backslash before backslashes, quotes and ends of lines. */
function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
