import { factTable, key, label, metric } from '../define.ts';

const credits = {
  billable_tokens: metric('credits consumed; the service computes them from raw tokens with cache discounts'),
  input_tokens: metric('raw input tokens'),
  output_tokens: metric('output tokens'),
  cache_read_tokens: metric('tokens read from the cache'),
  cache_write_tokens: metric('tokens written to the cache'),
};

/** The columns of credits and raw tokens, which every table of the stream `tokens` has. */
export const CREDIT_COLUMNS = Object.keys(credits) as readonly (keyof typeof credits)[];

const modelTier = { model_tier: label('tier of the model, for example standard or thinking') };
const userEmail = { user_email: label('email address, as DAYWALK_EMAILS allows') };

export const tokensDaily = factTable({
  name: 'tokens_daily',
  doc: 'Credits of the organization: one row per day.',
  stream: 'tokens',
  values: credits,
});

export const tokensDailyByModel = factTable({
  name: 'tokens_daily_by_model',
  doc: 'Credits by model.',
  stream: 'tokens',
  by: { model_id: key('ID of the model') },
  values: { ...modelTier, ...credits },
});

export const tokensDailyByUser = factTable({
  name: 'tokens_daily_by_user',
  doc: 'Credits by user.',
  stream: 'tokens',
  by: { user_id: key('ID of the user') },
  values: { ...userEmail, ...credits },
});

export const tokensDailyByUserModel = factTable({
  name: 'tokens_daily_by_user_model',
  doc: 'Credits by user and model.',
  stream: 'tokens',
  by: { user_id: key('ID of the user'), model_id: key('ID of the model') },
  values: { ...modelTier, ...credits },
});
