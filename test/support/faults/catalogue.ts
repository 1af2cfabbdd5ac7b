import { answerFaults } from './catalogue/answers.ts';
import { machineFaults } from './catalogue/machine.ts';
import { requestFaults } from './catalogue/requests.ts';

/** A fault that at least one test causes for real. The test carries the id in its name. */
export interface Fault {
  readonly id: string;
  readonly fault: string;
  /** How the tests cause it. */
  readonly cause: string;
  /** What the program must do about it. */
  readonly expect: string;
  /** The exit code, if the fault determines it. */
  readonly exit?: number;
}

/** Every fault that the suite tests. */
export const CATALOGUE: readonly Fault[] = [...requestFaults, ...answerFaults, ...machineFaults];
