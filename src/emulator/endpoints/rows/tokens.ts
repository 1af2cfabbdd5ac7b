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
export function writeTokensRows(view: DayView): readonly TokensRow[] {
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
export function writeTokensByModelRows(view: DayView): readonly TokensByModelRow[] {
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

/** A loop, because this runs for every user of a day. */
function byModel(credits: Float64Array, quirks: Quirks, key: Quirks['modelKey']): ModelElement[] {
  const elements: ModelElement[] = [];
  for (let model = 0; model < MODELS.length; model++) {
    const base = model * CREDITS.count;
    const input = credits[base + CREDITS.input] ?? 0;
    const entry = MODELS[model];
    if (input === 0 || entry === undefined) continue;
    elements.push({
      [key]: entry.id,
      ...(quirks.modelTier ? { model_tier: entry.tier } : {}),
      billable_tokens: credits[base + CREDITS.billable] ?? 0,
      input_tokens: input,
      output_tokens: credits[base + CREDITS.output] ?? 0,
      ...(quirks.cacheFields ? cacheFields(credits, base) : {}),
    });
  }
  return elements;
}

function cacheFields(credits: Float64Array, base: number): ModelElement {
  return {
    cache_read_tokens: credits[base + CREDITS.cacheRead] ?? 0,
    cache_write_tokens: credits[base + CREDITS.cacheWrite] ?? 0,
  };
}
