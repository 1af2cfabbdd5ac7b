import { CREDIT_COLUMNS } from '../../../schema/credits.ts';
import { tables } from '../../../schema/tables.ts';
import {
  MODEL_KEYS,
  type ModelElement,
  type TokensRow,
  type TokensUserElement,
  USER_KEYS,
} from '../../api/shapes/tokens.ts';
import type { EncodedRows, Value } from '../../warehouse/port.ts';
import { type NormalizeContext, orNull } from './context.ts';
import { distinctRows, summedRows } from './rows.ts';

const ROW_FIELDS = new Set<string>(['date', ...CREDIT_COLUMNS, 'by_model', 'by_user']);

/** Known fields of a model element whose model stands under a key; the other keys are extra then. */
const MODEL_FIELDS = new Map(
  MODEL_KEYS.map((key) => [key, new Set<string>([key, 'model_tier', ...CREDIT_COLUMNS])]),
);

/** Known fields of a user element whose user stands under a key; the other keys are extra then. */
const USER_FIELDS = new Map(
  USER_KEYS.map((key) => [key, new Set<string>([key, 'user_email', ...CREDIT_COLUMNS, 'by_model'])]),
);

/** Collects the rows of a day of /tokens: the day, its models, its users, and each user's models. */
export function normalizeTokens() {
  const days = distinctRows(tables.tokensDaily);
  const models = summedRows(tables.tokensDailyByModel);
  const users = summedRows(tables.tokensDailyByUser);
  const userModels = summedRows(tables.tokensDailyByUserModel);

  function addUser(scope: readonly Value[], user: TokensUserElement, context: NormalizeContext): void {
    const place = 'data[].by_user[]';
    const { key, id: userId } = identityOf(USER_KEYS, user);
    const known = USER_FIELDS.get(key) ?? ROW_FIELDS;
    const extra = context.findings.extra(user, known, { place, exact: context.exact });
    users.add([...scope, userId, context.privacy.email(user.user_email), ...creditsOf(user), extra]);
    userModels.addAll(
      (user.by_model ?? []).map((element) => [
        ...scope,
        userId,
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
  const { key, id } = identityOf(MODEL_KEYS, element);
  const known = MODEL_FIELDS.get(key) ?? ROW_FIELDS;
  const extra = context.findings.extra(element, known, { place, exact: context.exact });
  return [id, orNull(element.model_tier), ...creditsOf(element), extra];
}

/** The first name under which an element is identified, and what by. The shape of the row has checked that there is one. */
function identityOf<Name extends string>(
  names: readonly [Name, ...Name[]],
  element: { readonly [Key in Name]?: unknown },
): { readonly key: Name; readonly id: string | null } {
  for (const key of names) {
    const id = element[key];
    if (typeof id === 'string' && id !== '') return { key, id };
  }
  return { key: names[0], id: null };
}
