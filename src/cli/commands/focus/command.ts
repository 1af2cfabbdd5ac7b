import { organizationFlag } from '../../arguments/organization-flag.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk focus`: the charges of a month for FinOps tools. */
export const focus: Command = {
  name: 'focus',
  summary: 'writes the charges of a month as FOCUS 1.2 rows, or what has changed since',
  description:
    'Writes a file for FinOps tools that follows the FinOps Open Cost and Usage Specification (FOCUS) 1.2: one row per day, ' +
    "user and model, and one row per day for the rest of the day's total, if any. Costs are billable tokens at the " +
    'price of their day. With --corrects, the file holds only corrections: what has changed since the given files were ' +
    'issued, with the reasons. If a price is missing, nothing is written, and the exit code is 2. An existing file is never replaced.',
  uses: warehouseSettings,
  flags: {
    '--month <month>': 'the month to write, YYYY-MM',
    '--out <file>': 'the file to write; its name ends with .csv or .parquet',
    '--corrects <file...>':
      'a file that was issued for this month: first the original, then its corrections. Repeat the flag for each',
    ...organizationFlag,
    '--provider <name>': 'ProviderName, PublisherName and ServiceName (default: Agent platform)',
    '--issuer <name>': 'InvoiceIssuerName (default: the provider)',
    '--account-name <name>': 'BillingAccountName, the display name of the organization (default: none)',
    ...jsonFlag,
  },
  required: ['--month', '--out'],
  examples: {
    'daywalk focus --month 2026-10 --out focus-2026-10.csv': 'the charges of October',
    'daywalk focus --month 2026-10 --out focus-2026-10-c1.csv --corrects focus-2026-10.csv':
      'what has changed since that file was issued',
    'daywalk focus --month 2026-10 --out focus-2026-10-c2.csv --corrects focus-2026-10.csv --corrects focus-2026-10-c1.csv':
      'what has changed since both were issued',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
