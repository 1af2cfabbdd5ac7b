import { daysBetween, parseDay } from '../../../src/core/day.ts';
import type { IncidentMessage, ListedIncident } from '../alerts/messages.ts';
import type { Received } from '../alerts/receiver.ts';
import { incidentText, NEXT_RUN } from './expected.ts';
import { dayOfNight } from './scenes.ts';

/**
 * The incidents in the messages of a webhook, in the form of `expectedIncidents`. A killed run may have sent a message that
 * the next one sends again; the IDs are the same.
 */
export function receivedIncidents(messages: readonly Received[]): string[] {
  const bodies = messages.map(({ body }): IncidentMessage => JSON.parse(body));
  const opened = new Map(bodies.flatMap((body) => body.opened.map((incident) => [incident.id, incident])));
  const ended = new Map(
    bodies.flatMap(({ opened: begun, over }) =>
      [...begun, ...over].flatMap(({ id, ended_at }) => (ended_at === null ? [] : [[id, ended_at]])),
    ),
  );
  const unknown = [...ended.keys()].filter((id) => !opened.has(id)).map((id) => `the end of ${id} alone`);
  return [...[...opened.values()].map((one) => textOf(one, ended.get(one.id))), ...unknown].toSorted();
}

function textOf(incident: ListedIncident, endedAt: string | undefined): string {
  const { organization: name, kind } = incident;
  const facts = ['exit_code', 'stream', 'day'].flatMap((fact) =>
    fact in incident ? [String(incident[fact])] : [],
  );
  const from = nightAt(incident.opened_at);
  const until = endedAt === undefined ? null : nightAt(endedAt);
  const isNext = kind === 'restatement' && (until === from || until === from + 1);
  const to = isNext ? NEXT_RUN : String(until ?? 'the end');
  return incidentText({ name, from, kind: [kind, ...facts].join(' '), to });
}

function nightAt(instant: string): number {
  return 1 + daysBetween(dayOfNight(1), parseDay(instant.slice(0, 10)));
}
