import type { Advice, Facts, REASONS } from '../core/errors.ts';
import type { RefusalRule } from '../organizations/index.ts';
import type { RunReport } from '../pipeline/index.ts';
import { shellQuote } from './screens/text.ts';

type Remedy = string | ((facts: Facts, hint: string) => string);

/**
 * The remedies for failures, by reason code, with the flags and variables of the command line. Those that only add a name to
 * the hint of the error contain that hint.
 */
export const REMEDIES: Readonly<Record<(typeof REASONS)[number] | RefusalRule, Remedy>> = {
  'key-rejected': (facts, hint) => `check ${keyOf(facts)}: ${hint}`,
  'app-key-rejected': (facts, hint) =>
    facts['appKeyVariable'] !== undefined && facts['organization'] === undefined
      ? `check ${facts['appKeyVariable']}: ${hint}`
      : `check ${keyOf(facts)}; if the application host needs its own credential, set ${appKeyOf(facts)}`,
  'app-key-lacks-role': (facts, hint) => `${hint}; set ${appKeyOf(facts)} to a credential that may`,
  'api-not-found': (facts) =>
    `check ${baseUrlOf(facts)} and ${appUrlOf(facts)}: this host does not serve the API at this path`,
  'readiness-not-found': (facts) =>
    `check ${appUrlOf(facts)}, the application host (by default the base URL): this host does not serve the readiness reports`,
  'moved-away': (facts) =>
    `if the service has moved there, set ${baseUrlOf(facts)} or ${appUrlOf(facts)} to it`,
  'certificate-untrusted': 'if the certificate authority is your own, name its file in NODE_EXTRA_CA_CERTS',
  'timed-out': 'if the service needs more time, raise DAYWALK_REQUEST_TIMEOUT_MS',
  'address-as-user': 'this looks like an address: pass it with --email; nothing was changed',
  'long-wait': 'run again after that time: it resumes where this run ended',
  'proxy-failed': ({ proxy = '' }) =>
    `HTTPS_PROXY is ${proxy}: check that it lets this host through, or name the host in NO_PROXY`,
  'organization-unreadable': (facts) =>
    facts['organization'] === undefined
      ? `${unreadableOf(facts)}; for a key that may not read analytics, name the organization with --org-id`
      : unreadableOf(facts),
  'first-contact': (facts) =>
    `check ${baseUrlOf(facts)}, which is ${facts['baseUrl'] ?? ''}: ${facts['cause'] ?? ''}`,
  'other-organization': (facts) =>
    `give ${keyOf(facts)} the key of ${facts['expected'] ?? 'the other one'} again; if ${facts['orgId'] ?? 'this one'} is meant: ${consentOf(facts)}`,
  'new-organization': (facts) =>
    `check ${keyOf(facts)} and ${baseUrlOf(facts)}; to add it: ${consentOf(facts)}`,
  'foreign-users': (facts) =>
    `check ${keyOf(facts)} and ${baseUrlOf(facts)}; if the service has given its users other IDs: daywalk run --accept-organization accepts in the next run what this one refused`,
  'requests-spent':
    'run again: it resumes where this run ended. If it makes no progress, allow more with --max-requests',
  'no-warehouse': 'create it with daywalk run, or name another with --warehouse',
  'no-organization': 'export the data of an organization first, with daywalk run',
  'stream-not-exported': 'add the stream to DAYWALK_STREAMS, then daywalk run',
  'organization-unclear': ({ organizations = '' }) => `choose one of ${organizations} with --organization`,
  'warehouse-path': 'name a file, for example --warehouse daywalk.db',
  'warehouse-is-folder': ({ file = '' }) => `name a file in it, for example --warehouse ${file}`,
  'warehouse-is-foreign': 'name a new file with --warehouse',
  'warehouse-is-newer': 'it is newer: update daywalk, or name another warehouse with --warehouse',
  'warehouse-is-older': 'upgrade it as a user who may write it: daywalk upgrade',
  'upgrade-due': (_, hint) => `daywalk upgrade --backup FILE does it now; ${hint}`,
  'warehouse-busy': 'wait for it to end, or pass --wait',
  'warehouse-replaced-by-other':
    'it copies or replaces the whole warehouse; wait for it to end, or pass --wait',
  'salt-differs': ({ firstDay = '' }) =>
    `set the old salt again in DAYWALK_EMAIL_SALT; or hash all emails again: daywalk backfill --force --new-email-salt --from ${firstDay} --until YESTERDAY`,
  'policy-not-applied': ({ former = '', what = '' }) =>
    `daywalk privacy apply applies it to everything that is stored (with --dry-run it only counts); or set ${policyOf(what)}=${former} again`,
  'policy-differs': ({ former = '', what = '' }) =>
    `set ${policyOf(what)}=${former}, and DAYWALK_EMAIL_SALT as the runs have it; otherwise nobody is found`,
  'no-archive': 'name it with --archive or DAYWALK_ARCHIVE; runs with that setting write it',
  'archive-damaged':
    'restore the file from a backup; without one, pass --drop-damaged to remove these rows from the archive',
  'archive-not-named': ({ id = '' }) =>
    `name it with --archive or DAYWALK_ARCHIVE; DAYWALK_ARCHIVE=none runs without it, and daywalk adopt none ends it for all runs (daywalk adopt ${id} for this archive alone)`,
  'runs-lost': (_, hint) => hint,
  'create-never':
    'put it back, or name another with --warehouse; DAYWALK_CREATE=auto lets the next run create it',
  'before-first-day': 'give an earlier day with --from, or set DAYWALK_FIRST_DAY to one',
  identity: ({ id = 'ID', warehouse, archive }, hint) =>
    `${hint}: daywalk adopt ${id}${flagOf('--warehouse', warehouse)}${flagOf('--archive', archive)}`,
  'rows-damaged':
    'another program has written to the warehouse; daywalk backfill --force repairs what Daywalk exported',
  'copy-loses-rows':
    'copy to a new destination, or pass --replace to make this one equal and delete these rows',
  'restore-onto-data': 'restore into a new place, or pass --replace to replace what is there',
  'log-cannot-shrink':
    'end the transaction of that program, or let it read a copy made with daywalk publish --sqlite',
  'read-too-large':
    'read a copy made with daywalk publish --sqlite, or run this as a user who may write in the folder',
  'read-leaves-trace': 'daywalk status reads it, and leaves an empty log beside it',
  'read-too-slow':
    'ask for a shorter period or fewer dimensions, or allow statements more time with DAYWALK_QUERY_TIMEOUT',
  'lake-not-a-folder': 'name a folder with --delta or --parquet; it is created if it does not exist',
  'lake-folder-taken': 'name a new or an empty folder with --delta or --parquet',
  'lake-is-foreign': 'name a new folder with --parquet',
  'lake-is-newer': 'update daywalk, or name a new folder with --parquet',
  'metric-not-additive': ({ instead = '', grain = '' }) =>
    grain === '' ? `use ${instead}, or --by date` : `use ${instead} --by ${grain}`,
  'host-not-allowed': ({ host = '' }) =>
    `start the dashboard with --allowed-host ${host} if it has this name`,
  'dashboard-needs-token':
    'set DAYWALK_DASHBOARD_TOKEN to a long random text: openssl rand -hex 32; or listen on 127.0.0.1',
  'emulator-needs-token':
    'write a long random text into a file, openssl rand -hex 32, and name the file in DAYWALK_EMULATE_TOKEN_FILE; or leave out --host',
  'address-unusable': 'name another port with --listen, for example 127.0.0.1:0 for any free one',
  'metric-needs-dimension': ({ dimension = '' }) => `add it: --by date,${dimension}`,
};

// The fact `organization` is a name of the organizations file, which then takes the place of these variables.
const keyOf = ({ organization, keyVariable = 'DAYWALK_API_KEY or DAYWALK_API_KEY_FILE' }: Facts) =>
  organization === undefined ? keyVariable : `the key file of ${organization}`;
const policyOf = (what: string) => (what === 'users' ? 'DAYWALK_USERS' : 'DAYWALK_EMAILS');
const consentOf = (facts: Facts) => `daywalk run --new-organization ${facts['orgId'] ?? 'ID'}`;
const appKeyOf = ({ organization }: Facts) =>
  organization === undefined
    ? 'DAYWALK_APP_API_KEY or DAYWALK_APP_API_KEY_FILE'
    : `appApiKeyFile of ${organization}`;
const baseUrlOf = ({ organization }: Facts) =>
  organization === undefined ? 'DAYWALK_BASE_URL' : `the baseUrl of ${organization}`;
const appUrlOf = ({ organization }: Facts) =>
  organization === undefined ? 'DAYWALK_APP_URL' : `the appUrl of ${organization}`;

function unreadableOf(facts: Facts): string {
  const { status, refusal = '' } = facts;
  return status === '401' ? `check ${keyOf(facts)}: ${refusal}` : refusal;
}

/** Returns the remedy of the command line; without one, the hint of the error. */
export function hintOf({ hint, reason, facts = {} }: Advice): string | undefined {
  const remedy = reason !== undefined && isKnown(reason) ? REMEDIES[reason] : hint;
  return typeof remedy === 'function' ? remedy(facts, hint ?? '') : remedy;
}

/** A flag with a path, for a command to copy; nothing for a path that is not known. */
function flagOf(flag: string, path: unknown): string {
  return typeof path === 'string' ? ` ${flag} ${shellQuote(path)}` : '';
}

function isKnown(reason: string): reason is keyof typeof REMEDIES {
  return reason in REMEDIES;
}

/** Replaces the reason codes in a report by the hints of the command line. */
export function withHints(report: RunReport): RunReport {
  const problems = report.problems.map((problem) => ({
    message: problem.message,
    hint: hintOf(problem),
    units: problem.units,
  }));
  return { ...report, problems };
}
