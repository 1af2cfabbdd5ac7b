export interface Rule {
  readonly id?: string;
}
export function parseRules(_json: unknown): Rule[] {
  return [];
}
