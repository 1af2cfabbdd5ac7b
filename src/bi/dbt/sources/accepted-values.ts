import { STREAMS } from '../../../core/stream.ts';
import { UNIT_STATES } from '../../../warehouse/port.ts';

/** The values that a column may have. */
export interface AcceptedValues {
  readonly values: readonly string[];
  /** True for names that the service chooses: a new one is news, not a mistake. */
  readonly isOpen: boolean;
}

const ofService = (...values: readonly string[]): AcceptedValues => ({ values, isOpen: true });
const ours = (values: readonly string[]): AcceptedValues => ({ values, isOpen: false });

const tier = ofService('standard', 'thinking');

/** The accepted values of columns by `table.column`. NULL is always accepted here. */
export const ACCEPTED_VALUES: Readonly<Record<string, AcceptedValues>> = {
  'tokens_daily_by_model.model_tier': tier,
  'tokens_daily_by_user_model.model_tier': tier,
  'user_daily.primary_model_tier': tier,
  'user_daily.delegation_level': ofService('auto-high', 'auto-medium', 'auto-low', 'spec', 'manual'),
  'activity_daily_by_client.client': ofService('terminal-ui', 'web', 'non-interactive-cli'),
  'readiness_reports.model_reasoning_effort': ofService('low', 'medium', 'high', 'off'),
  'sessions.status': ofService('idle', 'pending', 'running'),
  'export_units.stream': ours(STREAMS),
  'export_units.state': ours(UNIT_STATES),
  'export_units.confirmed': ours(['data', 'agreed', 'age']),
  'restatements.stream': ours(STREAMS),
  'quarantine.stream': ours(STREAMS),
  'schema_drift.stream': ours(STREAMS),
  'schema_drift.kind': ours(['unknown field', 'wrong type', 'new value']),
};
