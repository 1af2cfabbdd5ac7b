/** One run of a lane: what it took, and the time of all processors where that is known. */
export interface Sample {
  readonly value: number;
  readonly cpuMs?: number | null;
}

/** Ways to do something, by name: one sample per round. */
export type Lanes = Readonly<Record<string, readonly Sample[]>>;

/** A result: a value with its spread over the rounds, and what it must be at most. */
export interface Measure {
  /** Tells several results of one benchmark apart; '' where there is one. */
  readonly name: string;
  readonly unit: 'times' | 'MB' | 's';
  readonly value: number;
  /** The least and the greatest of a single round. */
  readonly low: number;
  readonly high: number;
  /** The same ratio of processor time, which other work on the machine alters less; null where there is none. */
  readonly cpu: number | null;
  /** Null where the benchmark only tells. */
  readonly limit: number | null;
  /** What the value was made of, in the order in which the lanes took turns. */
  readonly lanes: Lanes;
  /** What the values of the lanes are. */
  readonly laneUnit: 'ms' | 's' | 'MB' | 'requests';
}

/** How a result is to be judged and named. */
export interface MeasureOptions {
  readonly name?: string;
  readonly limit: number | null;
}

/** The middle one of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}

/** Runs the lanes in turn, so many rounds: what else the machine does meanwhile meets all of them alike. */
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

/** The time of a process. */
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
  { name = '', limit, unit }: MeasureOptions & { readonly unit: 'MB' | 's' },
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
