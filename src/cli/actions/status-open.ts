import type { UtcDay } from '../../core/day.ts';
import type { OpenState, OpenStateName } from '../../status/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import { counted } from '../screens/numbers.ts';
import { wrapText } from '../screens/text.ts';

interface OpenText {
  readonly title: (open: OpenState) => string;
  /** What is counted. */
  readonly noun: string;
  readonly ends: (open: OpenState) => string;
}

const GONE = 'if the service still lacks them; if they are gone for good: daywalk run --accept-loss';

const OPEN_TEXTS: Readonly<Record<OpenStateName, OpenText>> = {
  quarantined: {
    title: () => 'records in quarantine that cannot be read',
    noun: 'record',
    ends: () => 'when the service corrects them, or: daywalk quarantine accept',
  },
  mass: {
    title: () => 'many settled days differ from the service at once',
    noun: 'day',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same: it is stored then`,
  },
  flapping: {
    title: () => 'the service alternates between answers, so that every change needs five equal looks',
    noun: 'unstable unit',
    ends: ({ endsOn }) => `on ${endsOn} if no unit goes back and forth until then`,
  },
  unstable: {
    title: () => 'answers that go back and forth; what is stored of settled units stays',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same`,
  },
  'seen-otherwise': {
    title: () => 'settled units that differ from the service',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if the service keeps answering the same: it is stored then`,
  },
  'first-looks': {
    title: () => 'history that has not been seen often enough to settle',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if runs until then find the same: the units settle then`,
  },
  'left-out': {
    title: () => 'looks and comparisons for which the last run had no requests left',
    noun: 'unit',
    ends: ({ endsOn }) => `on ${endsOn} if that run has enough requests, see --max-requests`,
  },
  impossible: {
    title: () => 'records in quarantine that cannot be true',
    noun: 'record',
    ends: ({ endsOn }) =>
      `when a response is possible, or on ${endsOn} if none is by then; until then, the stored rows stay`,
  },
  doubted: {
    title: () => 'stored rows that the service no longer returns',
    noun: 'unit',
    ends: ({ endsOn }) => `when the rows are back, or on ${endsOn} ${GONE}`,
  },
  'most-reports-missing': {
    title: () => 'most readiness reports are missing in the list',
    noun: 'report',
    ends: ({ endsOn }) => `when the list has them again, or on ${endsOn} ${GONE}`,
  },
  'reports-missing': {
    title: () => 'readiness reports are missing in the list',
    noun: 'report',
    ends: ({ endsOn }) => `when the list has them again, or on ${endsOn} ${GONE}`,
  },
  leavers: {
    title: () => 'a few users are gone from days, and nobody came, as if they had left',
    noun: 'unit',
    ends: ({ endsOn }) => `when they are back, or on ${endsOn} if they are still gone: that is stored then`,
  },
  'figures-disagree': {
    title: () => 'days whose streams contradict each other in numbers',
    noun: 'unit',
    ends: ({ endsOn }) =>
      `when they agree, or on ${endsOn} if the service keeps answering the same: it is stored then, unconfirmed`,
  },
  'never-active': {
    title: ({ firstDay }) => `no activity has ever been seen since ${firstDay}`,
    noun: 'unit',
    ends: () => 'when a run stores activity: until then, no empty day settles',
  },
};

/** What ends a state. */
export function endOfOpen(open: OpenState): string {
  return `ends ${OPEN_TEXTS[open.state].ends(open)}`;
}

/** At most this many lines say what is open, how much, or what ends it. */
const OPEN_LINES_MAX = 3;

/** Draws what is open, the most urgent first: how much, since when, and what ends it. */
export function renderOpen(open: readonly OpenState[], { style, width }: ScreenFrame): string[] {
  return open.flatMap((one) => {
    const { exitCode, looks } = one;
    const { title, noun } = OPEN_TEXTS[one.state];
    const parts = [
      counted(one.count, noun),
      ...(one.firstDay === null || one.lastDay === null ? [] : [spanText(one.firstDay, one.lastDay)]),
      `since ${one.since.slice(0, 'YYYY-MM-DD'.length)}`,
      ...(looks === null ? [] : [`${looks.soFar} of ${looks.needed} days`]),
      `exit code ${exitCode}`,
    ];
    const paint = exitCode === 0 ? style.cyan : style.yellow;
    const ends = wrapText(endOfOpen(one), { width, lead: '    ', linesMax: OPEN_LINES_MAX });
    const facts = wrapText(parts.join(', '), { width, lead: '    ', linesMax: OPEN_LINES_MAX });
    const titles = wrapText(title(one), { width, lead: '  ', linesMax: OPEN_LINES_MAX });
    return [...titles.map(paint), ...facts, ...ends.map(style.dim)];
  });
}

/** The first and the last of some days. */
export function spanText(firstDay: UtcDay, lastDay: UtcDay): string {
  return firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
}
