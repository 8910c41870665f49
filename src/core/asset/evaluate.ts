import type { Evaluation, GroupFacts } from './group.ts';
export declare const evaluateGroup: (facts: GroupFacts) => Evaluation;
