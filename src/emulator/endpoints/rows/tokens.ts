import type {
  ModelElement,
  TokensByModelRow,
  TokensRow,
  TokensUserElement,
} from '../../../api/shapes/tokens.ts';
import { MODELS } from '../../dataset/catalog.ts';
import { CREDITS } from '../../dataset/user-day.ts';
import type { Quirks } from '../../quirks/quirks.ts';
import { orgDayOf } from './org-day.ts';
import type { DayView } from './view.ts';

/** /tokens: one row per day with breakdowns by model and by user (specification, section 2.4). */
export function tokensRows(view: DayView): readonly TokensRow[] {
  const org = orgDayOf(view, 'tokens');
  if (org === null) return [];
  const sumOf = (metric: number): number =>
    MODELS.reduce((sum, _, model) => sum + (org.models[model * CREDITS.count + metric] ?? 0), 0);
  const row: TokensRow = {
    date: view.date,
    billable_tokens: sumOf(CREDITS.billable),
    input_tokens: sumOf(CREDITS.input),
    output_tokens: sumOf(CREDITS.output),
    cache_read_tokens: sumOf(CREDITS.cacheRead),
    cache_write_tokens: sumOf(CREDITS.cacheWrite),
    by_model: byModel(org.models, view.quirks, view.quirks.modelKey),
  };
  return [view.quirks.byUser === 'absent' ? row : { ...row, by_user: byUser(view) }];
}

/** /tokens?group_by=model: one row per day and model. The specification does not show the shape; `group_key` is likely. */
export function tokensByModelRows(view: DayView): readonly TokensByModelRow[] {
  const org = orgDayOf(view, 'tokens');
  if (org === null) return [];
  return byModel(org.models, { ...view.quirks, modelTier: false }, 'group_key').map((element) => ({
    date: view.date,
    ...element,
  }));
}

function byUser(view: DayView): TokensUserElement[] {
  const { dataset, day, quirks } = view;
  const elements: TokensUserElement[] = [];
  dataset.eachUser(day, 'tokens', (facts, user) => {
    elements.push({
      [quirks.userKey]: dataset.population.idOf(user),
      user_email: dataset.population.emailOf(user, day),
      billable_tokens: facts.billable,
      ...(quirks.byUser === 'nested' ? { by_model: byModel(facts.models, quirks, quirks.modelKey) } : {}),
    });
  });
  return elements;
}

function byModel(credits: Float64Array, quirks: Quirks, key: Quirks['modelKey']): ModelElement[] {
  return MODELS.flatMap(({ id, tier }, model) => {
    const numberOf = (metric: number): number => credits[model * CREDITS.count + metric] ?? 0;
    const input = numberOf(CREDITS.input);
    if (input === 0) return [];
    const element = {
      [key]: id,
      ...(quirks.modelTier ? { model_tier: tier } : {}),
      billable_tokens: numberOf(CREDITS.billable),
      input_tokens: input,
      output_tokens: numberOf(CREDITS.output),
    };
    if (!quirks.cacheFields) return [element];
    const cache_read_tokens = numberOf(CREDITS.cacheRead);
    return [{ ...element, cache_read_tokens, cache_write_tokens: numberOf(CREDITS.cacheWrite) }];
  });
}
