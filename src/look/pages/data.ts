import { FIRST_DAY, type UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { lastExpectedDay, streamCoverage } from '../data/coverage.ts';
import { dayStates } from '../data/day-states.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { coverage } from '../figures/coverage.ts';
import { doubts } from '../figures/doubts.ts';
import { factOf, withResult } from '../figures/listing.ts';
import { quarantinedRecords, quarantineReasons } from '../figures/quarantined.ts';
import { restatedDays } from '../figures/restated-days.ts';
import { latestRuns } from '../figures/runs.ts';
import { schemaDrift } from '../figures/schema-drift.ts';
import { unsettled } from '../figures/unsettled.ts';
import type { ShownNumber } from '../page/numbers.ts';
import type { Page, Phrase, Section } from '../page/page.ts';
import { periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

/** What all numbers stand on: which days are stored, what is not settled, what changed, and which runs did it. */
export const data: PageKind = {
  path: '/data',
  name: 'Data',
  async build(reader) {
    const until = await lastExpectedDay(reader);
    if (until === null) {
      const calendar = await coverage(reader, { stream: 'activity' });
      return { name: 'Data', heading: 'Data', sentence: ['Nothing is stored yet.'], sections: [calendar] };
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
  const calendars = [];
  const coverages = [];
  for (const stream of DAILY_STREAMS) {
    calendars.push(await coverage(reader, { stream, tellsEnd: calendars.length === 0 }));
    coverages.push(await streamCoverage(reader, stream, until));
  }
  return [
    ...calendars,
    withResult(unsettled(coverages), states),
    await doubts(reader, until),
    await restatedDays(reader, until),
    await quarantineReasons(reader, until),
    await quarantinedRecords(reader, until),
    await schemaDrift(reader, until),
    await latestRuns(reader, until),
  ];
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
