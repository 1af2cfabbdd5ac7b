import type { Advice } from '../src/core/reasons.ts';
import type { RunEvent, RunObserver, RunReport } from '../src/pipeline/events.ts';

/** Passes on the events of one organization. Their advice then names it, so that a remedy can say whose key is meant. */
export function observerFor(organization: string, observe: RunObserver): RunObserver {
  return (event) => observe(adviseOn(organization, event));
}

/** A report whose advice names the organization. */
export function reportFor(organization: string, report: RunReport): RunReport {
  return { ...report, problems: report.problems.map((problem) => withFact(organization, problem)) };
}

function adviseOn(organization: string, event: RunEvent): RunEvent {
  if (event.type === 'run-ended') return { ...event, report: reportFor(organization, event.report) };
  if (event.type === 'warning' || event.type === 'unit-failed') return withFact(organization, event);
  return event;
}

function withFact<Advised extends Advice>(organization: string, advice: Advised): Advised {
  return advice.reason === undefined ? advice : { ...advice, facts: { ...advice.facts, organization } };
}
