import { CREDIT_COLUMNS } from '../../../schema/credits.ts';
import { tables } from '../../../schema/tables.ts';
import {
  MODEL_KEYS,
  type ModelElement,
  type TokensRow,
  type TokensUserElement,
} from '../../api/shapes/tokens.ts';
import type { EncodedRows, Value } from '../../warehouse/port.ts';
import { type NormalizeContext, orNull } from './context.ts';
import { distinctRows, summedRows } from './rows.ts';

const ROW_FIELDS = new Set<string>(['date', ...CREDIT_COLUMNS, 'by_model', 'by_user']);
const USER_FIELDS = new Set<string>(['user_id', 'user_email', ...CREDIT_COLUMNS, 'by_model']);

/** Known fields of a model element whose model stands under a key; the other keys are extra then. */
const MODEL_FIELDS = new Map(
  MODEL_KEYS.map((key) => [key, new Set<string>([key, 'model_tier', ...CREDIT_COLUMNS])]),
);

/** Collects the rows of a day of /tokens: the day, its models, its users, and each user's models. */
export function normalizeTokens() {
  const days = distinctRows(tables.tokensDaily);
  const models = summedRows(tables.tokensDailyByModel);
  const users = summedRows(tables.tokensDailyByUser);
  const userModels = summedRows(tables.tokensDailyByUserModel);

  function addUser(scope: readonly Value[], user: TokensUserElement, context: NormalizeContext): void {
    const place = 'data[].by_user[]';
    const extra = context.findings.extra(user, USER_FIELDS, { place, exact: context.exact });
    users.add([...scope, user.user_id, context.privacy.email(user.user_email), ...creditsOf(user), extra]);
    userModels.addAll(
      (user.by_model ?? []).map((element) => [
        ...scope,
        user.user_id,
        ...modelOf(element, `${place}.by_model[]`, context),
      ]),
    );
  }

  return {
    add(row: TokensRow, context: NormalizeContext): void {
      const scope = [context.orgId, row.date];
      days.add([
        ...scope,
        ...creditsOf(row),
        context.findings.extra(row, ROW_FIELDS, { place: 'data[]', exact: context.exact }),
      ]);
      for (const element of row.by_model ?? [])
        models.add([...scope, ...modelOf(element, 'data[].by_model[]', context)]);
      for (const user of row.by_user ?? []) addUser(scope, user, context);
    },
    finish: (): EncodedRows[] => [days.finish(), models.finish(), users.finish(), userModels.finish()],
  };
}

type Credits = { [Name in (typeof CREDIT_COLUMNS)[number]]?: number | null };

function creditsOf(record: Credits): Value[] {
  return CREDIT_COLUMNS.map((name) => orNull(record[name]));
}

/** Model, tier, credits and extra of a model element. The shape of the row has checked that there is a model. */
function modelOf(element: ModelElement, place: string, context: NormalizeContext): Value[] {
  const key =
    MODEL_KEYS.find((name) => typeof element[name] === 'string' && element[name] !== '') ?? 'model_id';
  const known = MODEL_FIELDS.get(key) ?? ROW_FIELDS;
  const extra = context.findings.extra(element, known, { place, exact: context.exact });
  return [orNull(element[key]), orNull(element.model_tier), ...creditsOf(element), extra];
}
