import type { AnyTable } from '../../../../schema/define.ts';

/** The name of the package, of its source and of its profile. */
export const PACKAGE = 'daywalk';

/** The models that are more than the rows of a table. */
export const MODELS = {
  userDays: 'daywalk_user_days',
  userLanguageDays: 'daywalk_user_language_days',
  licensedDays: 'daywalk_licensed_days',
  readinessDays: 'daywalk_readiness_days',
  timeSpine: 'daywalk_time_spine',
} as const;

/** The name of the model with the rows of a table. */
export function stagingName({ name }: Pick<AnyTable, 'name'>): string {
  return `stg_daywalk__${name}`;
}

/** A reference to a model, in the SQL of another one. */
export function refTo(model: string): string {
  return `{{ ref('${model}') }}`;
}
