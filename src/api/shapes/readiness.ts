import Type, { type Static } from 'typebox';
import { Flag, FractionalInstant, Identity, Label, Metric, recordOf } from './fields.ts';

/** One criterion of a report. `numerator` is null if the criterion was skipped (specification, section 2.5). */
export const Criterion = Type.Object({ numerator: Metric, denominator: Metric, rationale: Label });
export type Criterion = Static<typeof Criterion>;

export const ReportApp = Type.Object({ description: Label });
export type ReportApp = Static<typeof ReportApp>;

export const ModelUsed = Type.Object({ id: Label, reasoningEffort: Label });
export type ModelUsed = Static<typeof ModelUsed>;

/** A readiness report (section 2.5). `createdAt` is in Unix milliseconds. */
export const ReadinessReport = Type.Object({
  reportId: Identity,
  createdAt: FractionalInstant,
  repoUrl: Type.String(),
  apps: recordOf(ReportApp),
  report: recordOf(Criterion),
  commitHash: Label,
  branch: Label,
  hasLocalChanges: Flag,
  hasNonRemoteCommits: Flag,
  modelUsed: Type.Optional(Type.Union([ModelUsed, Type.Null()])),
  droidVersion: Label,
});
export type ReadinessReport = Static<typeof ReadinessReport>;
