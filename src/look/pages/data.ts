import { FIRST_DAY, type UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { ALL_STREAMS, allStreams, NOTHING_RUN, unsettled } from '../figures/coverage.ts';
import { dayStates, lastExpectedDay, streamCoverage } from '../figures/day-states.ts';
import {
  doubts,
  latestRuns,
  quarantinedRecords,
  quarantineReasons,
  restatedDays,
  schemaDrift,
} from '../figures/ledger.ts';
import { factOf } from '../figures/listing.ts';
import type { ShownNumber } from '../numbers.ts';
import type { Figure, Page, Phrase, Section } from '../page.ts';
import { emptyFigure } from '../page.ts';
import type { PageReader, Result } from '../reader.ts';
import { periodHeading } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** What all numbers stand on: which days are stored, what is not settled, what changed, and which runs did it. */
export const data: PageKind = {
  path: '/data',
  name: 'Data',
  async build(reader) {
    const until = await lastExpectedDay(reader);
    if (until === null) {
      const sections = [emptyFigure(ALL_STREAMS, NOTHING_RUN)];
      return { name: 'Data', heading: 'Data', sentence: ['Nothing is stored yet.'], sections };
    }
    const states = await dayStates(reader, until);
    return {
      name: 'Data',
      heading: `Data, ${periodHeading({ from: FIRST_DAY, until })}`,
      sentence: [...sentenceOf(states), ...SCOPE],
      sections: await sectionsOf(reader, states, until),
      basis: states.basis,
    } satisfies Page;
  },
};

const SCOPE: Phrase = [' This page is about all days and people, whatever period and team are chosen.'];

async function sectionsOf(reader: PageReader, states: Result, until: UtcDay): Promise<Section[]> {
  const coverages = [];
  for (const stream of DAILY_STREAMS) coverages.push(await streamCoverage(reader, stream, until));
  const reasons = await quarantineReasons(reader, until);
  const lists = [
    unsettled(coverages),
    await doubts(reader, until),
    await restatedDays(reader, until),
    reasons,
    ...(reasons.empty === undefined ? [await quarantinedRecords(reader, until)] : []),
    await schemaDrift(reader, until),
  ];
  return [
    allStreams(reader, { coverages, states, until }),
    ...lists.filter(({ empty }) => empty === undefined),
    ...paired(lists.filter(({ empty }) => empty !== undefined)),
    await latestRuns(reader, until),
  ];
}

/** Two by two: a figure without content says one sentence. */
function paired([first, second, ...rest]: readonly Figure[]): Section[] {
  if (first === undefined) return [];
  if (second === undefined) return [first];
  return [{ kind: 'pair', figures: [first, second] }, ...paired(rest)];
}

/** What is wrong with days, as the end of a sentence about one day and about several. */
const TROUBLES = [
  ['open', ' is not settled', ' are not settled'],
  ['doubted', ' is doubted', ' are doubted'],
  ['failed', ' failed', ' failed'],
  ['awaiting', ' awaits data', ' await data'],
  ['quarantined', ' has records in quarantine', ' have records in quarantine'],
  ['pending', ' was never pulled', ' were never pulled'],
] as const;

function sentenceOf(states: Result): Phrase {
  const days = factOf(states, 0, 'days');
  const stored = factOf(states, 0, 'stored');
  const troubles = TROUBLES.flatMap(([state, one, several]): Phrase[] => {
    const count = factOf(states, 0, state);
    return count.value === null || count.value === 0 ? [] : [[count, count.value === 1 ? one : several]];
  });
  const first = storedPhrase(stored, days);
  if (troubles.length === 0) return [...first, ' and settled.'];
  const rest = troubles.flatMap((trouble, index) => [index === 0 ? '; ' : ', ', ...trouble]);
  return [...first, ...rest, '.'];
}

function storedPhrase(stored: ShownNumber, days: ShownNumber): Phrase {
  if (stored.value !== days.value)
    return [{ kind: 'strong', parts: [stored, ' of ', days, ' days'] }, ' are stored in all five streams'];
  return days.value === 1
    ? [{ kind: 'strong', parts: [days, ' day'] }, ' is stored in all five streams']
    : [{ kind: 'strong', parts: ['All ', days, ' days'] }, ' of the five streams are stored'];
}
