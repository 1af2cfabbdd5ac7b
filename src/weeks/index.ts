export { publishWeeks } from './publish-weeks.ts';
