/** One run of a lane: its value, and its processor time if known. */
export interface Sample {
  readonly value: number;
  readonly cpuMs?: number | null;
}

/** Samples by lane, one per round. */
export type Lanes = Readonly<Record<string, readonly Sample[]>>;

/** A result: a value, its range over the rounds, and its limit. */
export interface Measure {
  /** Name of the result; '' if the benchmark has only one. */
  readonly name: string;
  readonly unit: 'times' | 'MB' | 'kB' | 's';
  readonly value: number;
  /** Minimum and maximum of the rounds. */
  readonly low: number;
  readonly high: number;
  /** The ratio of processor times, which other work on the machine affects less; null if unknown. */
  readonly cpu: number | null;
  /** Null if there is no limit. */
  readonly limit: number | null;
  /** Samples by lane, in the order of the rounds. */
  readonly lanes: Lanes;
  /** Unit of the samples. */
  readonly laneUnit: 'ms' | 's' | 'MB' | 'kB' | 'requests';
}

/** Name, unit and limit of a result. */
export interface MeasureOptions {
  readonly name?: string;
  readonly limit: number | null;
}

/** The median of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}

/** Runs the lanes in turn, so that other work on the machine affects all of them equally. */
export async function inTurns(
  rounds: number,
  lanes: Readonly<Record<string, () => Promise<Sample>>>,
): Promise<Lanes> {
  const turns = Object.entries(lanes).map(([name, run]) => ({ name, run, samples: [] as Sample[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { run, samples } of turns) samples.push(await run());
  }
  return Object.fromEntries(turns.map(({ name, samples }) => [name, samples]));
}

/** Duration of a process. */
export function time({ ms, cpuMs }: { readonly ms: number; readonly cpuMs: number | null }): Sample {
  return { value: ms, cpuMs };
}

/** The ratio of the medians of two lanes. */
export function ratio(
  lanes: Lanes,
  [upperName, lowerName]: readonly [upper: string, lower: string],
  { name = '', limit, laneUnit = 'ms' }: MeasureOptions & { readonly laneUnit?: Measure['laneUnit'] },
): Measure {
  const [upper, lower] = [lanes[upperName] ?? [], lanes[lowerName] ?? []];
  const rounds = upper.map(({ value }, round) => value / (lower[round]?.value ?? Number.NaN));
  const cpu = median(processorTimes(upper)) / median(processorTimes(lower));
  return {
    name,
    unit: 'times',
    value: median(valuesOf(upper)) / median(valuesOf(lower)),
    low: Math.min(...rounds),
    high: Math.max(...rounds),
    cpu: Number.isNaN(cpu) ? null : cpu,
    limit,
    lanes: { [upperName]: upper, [lowerName]: lower },
    laneUnit,
  };
}

/** The median of one lane. */
export function middle(
  lanes: Lanes,
  lane: string,
  { name = '', limit, unit }: MeasureOptions & { readonly unit: 'MB' | 'kB' | 's' },
): Measure {
  const samples = lanes[lane] ?? [];
  const values = valuesOf(samples);
  return {
    name,
    unit,
    value: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
    cpu: null,
    limit,
    lanes: { [lane]: samples },
    laneUnit: unit,
  };
}

function valuesOf(samples: readonly Sample[]): number[] {
  return samples.map(({ value }) => value);
}

function processorTimes(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ cpuMs }) => cpuMs ?? []);
}
