import { amount, date, day, key, label, orgColumn, table, text } from '../define.ts';

export const people = table({
  name: 'people',
  doc: 'Who belongs to which team, and when: one row per person and period, as `daywalk people load` stored it.',
  role: 'dimension',
  by: {
    ...orgColumn,
    person: key('user ID or email address of the person, the email as DAYWALK_EMAILS stores it'),
    valid_from: day('first day of the period'),
  },
  values: {
    valid_to: date('last day of the period; NULL if it has no end'),
    name: label('name of the person; NULL unless DAYWALK_EMAILS is keep'),
    team: label('team; NULL if none was given'),
    department: label('department'),
    cost_center: label('cost center'),
    manager_email: label('email address of the manager, as DAYWALK_EMAILS allows'),
  },
});

export const prices = table({
  name: 'prices',
  doc: 'What a million billable tokens cost, and when: one row per period, as `daywalk prices load` stored it.',
  role: 'dimension',
  by: { ...orgColumn, valid_from: day('first day of the period') },
  values: {
    valid_to: date('last day of the period; NULL if it has no end'),
    currency: text('ISO 4217 code of the currency'),
    price_per_million: amount('price of a million billable tokens in this currency'),
  },
});

export const budgets = table({
  name: 'budgets',
  doc: 'The budget of each team and month, as `daywalk budget load` stored it.',
  role: 'dimension',
  by: { ...orgColumn, month: key('month, YYYY-MM'), team: key('team') },
  values: {
    amount: amount('budget of the month in this currency'),
    currency: text('ISO 4217 code of the currency'),
  },
});
