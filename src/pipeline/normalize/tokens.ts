import { tables } from '../../../schema/tables.ts';
import {
  MODEL_KEYS,
  type ModelElement,
  type TokensRow,
  type TokensUserElement,
  USER_KEYS,
} from '../../api/shapes/tokens.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { mapping } from './mapping.ts';
import { distinctRows, summedRows } from './rows.ts';

const { tokensDaily, tokensDailyByModel, tokensDailyByUser, tokensDailyByUserModel } = tables;

const dayRow = mapping(tokensDaily, { place: 'data[]', known: ['by_model', 'by_user'] });

// The ID of a model or user is in one of several fields. The fields that do not hold it count as unknown, so each field has
// its own mapping.
const modelRow = mappingPerName(MODEL_KEYS, (name) =>
  mapping(tokensDailyByModel, {
    place: 'data[].by_model[]',
    given: ['date', 'model_id'],
    known: [name],
  }),
);
const userRow = mappingPerName(USER_KEYS, (name) =>
  mapping(tokensDailyByUser, {
    place: 'data[].by_user[]',
    given: ['date', 'user_id', 'user_email'],
    known: [name, 'user_email', 'by_model'],
  }),
);
const userModelRow = mappingPerName(MODEL_KEYS, (name) =>
  mapping(tokensDailyByUserModel, {
    place: 'data[].by_user[].by_model[]',
    given: ['date', 'user_id', 'model_id'],
    known: [name],
  }),
);

/** Collects the rows of a day of /tokens: the day, its models, its users, and each user's models. */
export function normalizeTokens() {
  const days = distinctRows(tokensDaily);
  const models = summedRows(tokensDailyByModel);
  const users = summedRows(tokensDailyByUser);
  const userModels = summedRows(tokensDailyByUserModel);

  function addUser(date: string, user: TokensUserElement, context: NormalizeContext): void {
    const { name, id: user_id } = identityOf(USER_KEYS, user);
    const user_email = context.privacy.email(user.user_email);
    users.add(userRow[name](user, { date, user_id, user_email }, context));
    userModels.addAll(
      (user.by_model ?? []).map((element) => {
        const model = identityOf(MODEL_KEYS, element);
        return userModelRow[model.name](element, { date, user_id, model_id: model.id }, context);
      }),
    );
  }

  function addModel(date: string, element: ModelElement, context: NormalizeContext): void {
    const { name, id: model_id } = identityOf(MODEL_KEYS, element);
    models.add(modelRow[name](element, { date, model_id }, context));
  }

  return {
    add(row: TokensRow, context: NormalizeContext): void {
      const { date, by_model, by_user } = row;
      days.add(dayRow(row, {}, context));
      for (const element of by_model ?? []) addModel(date, element, context);
      for (const user of by_user ?? []) addUser(date, user, context);
    },
    finish: (): EncodedRows[] => [days.finish(), models.finish(), users.finish(), userModels.finish()],
  };
}

function mappingPerName<Name extends string, Made>(
  names: readonly Name[],
  make: (name: Name) => Made,
): Record<Name, Made> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Made>;
}

/** Finds the first field that identifies an element, and the ID in it. */
function identityOf<Name extends string>(
  names: readonly Name[],
  element: { readonly [Key in Name]?: unknown },
): { readonly name: Name; readonly id: string } {
  for (const name of names) {
    const id = element[name];
    if (typeof id === 'string' && id !== '') return { name, id };
  }
  throw new TypeError(`an element without ${names.join(', ')} passed its shape`);
}
