/** The server and the reports draw every page, so they are loaded when the first one is asked for. */

export { AUDIENCES, type Audience, NO_TEAMS } from './audience.ts';
export type { BriefRequest, WrittenBrief } from './brief/write-brief.ts';
export type { WrittenReport, WrittenReports } from './report/write-reports.ts';

type Dashboards = typeof import('./server/dashboard.ts');
type Briefs = typeof import('./brief/write-brief.ts');
type Reports = typeof import('./report/write-reports.ts');

export const startDashboard: Dashboards['startDashboard'] = async (...given) =>
  (await import('./server/dashboard.ts')).startDashboard(...given);

export const requireToken: Dashboards['requireToken'] = async (...given) =>
  (await import('./server/dashboard.ts')).requireToken(...given);

export const reportPeriod: Reports['reportPeriod'] = async (...given) =>
  (await import('./report/write-reports.ts')).reportPeriod(...given);

export const writeReport: Reports['writeReport'] = async (...given) =>
  (await import('./report/write-reports.ts')).writeReport(...given);

export const writeTeamReports: Reports['writeTeamReports'] = async (...given) =>
  (await import('./report/write-reports.ts')).writeTeamReports(...given);

export const writeBrief: Briefs['writeBrief'] = async (...given) =>
  (await import('./brief/write-brief.ts')).writeBrief(...given);
