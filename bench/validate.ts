import type { Benchmark } from './support/bench.ts';
import { inTurns, ratio, type Sample } from './support/measure.ts';
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
    return { measures: [ratio(lanes, ['validate and normalize', 'JSON.parse'], { limit: 2.5 })] };
  },
};
