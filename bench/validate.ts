import type { Benchmark } from './support/bench.ts';
import { inTurns, type Measure, ratio, type Sample } from './support/measure.ts';
import { childScript, runProcess } from './support/process.ts';

/** Cost of checking every field after parsing. One process measures both, page by page. */
export const validate: Benchmark = {
  number: 4,
  title: 'Validating and normalizing pages of users ÷ JSON.parse of the pages',
  async run(bench) {
    const { folder } = await bench.userPages();
    const script = [childScript('validate-pages.ts')];
    const { stdout } = await runProcess(process.execPath, [...script, folder, String(bench.rounds)]);
    const rounds: { parseMs: number; prepareMs: number }[] = JSON.parse(stdout);
    const next = (pick: (round: { parseMs: number; prepareMs: number }) => number) => {
      const values = rounds.map(pick).values();
      return async (): Promise<Sample> => ({ value: values.next().value ?? Number.NaN });
    };
    const lanes = await inTurns(rounds.length, {
      'validate and normalize': next(({ prepareMs }) => prepareMs),
      'JSON.parse': next(({ parseMs }) => parseMs),
    });
    return {
      measures: [
        ratio(lanes, ['validate and normalize', 'JSON.parse'], { limit: 2.5 }),
        ...(await gatePrices(folder, bench.rounds)),
      ],
    };
  },
};

/** What the policies of privacy add to the processor time of a page, from its text to its rows. */
async function gatePrices(folder: string, count: number): Promise<readonly Measure[]> {
  const { stdout } = await runProcess(process.execPath, [
    childScript('gate-pages.ts'),
    folder,
    String(count),
  ]);
  const rounds: Record<'keep' | 'hash' | 'pseudonym', number>[] = JSON.parse(stdout);
  const lane = (policy: 'keep' | 'hash' | 'pseudonym') =>
    rounds.map((round): Sample => ({ value: round[policy], cpuMs: round[policy] }));
  const lanes = { keep: lane('keep'), hash: lane('hash'), pseudonym: lane('pseudonym') };
  return [
    ratio(lanes, ['hash', 'keep'], { name: 'addresses hashed', limit: null }),
    ratio(lanes, ['pseudonym', 'hash'], { name: 'pseudonyms besides', limit: 2 }),
  ];
}
