import { carriedMutations } from './carried.js';
import { endingMutations } from './endings.js';
import { fewerConditionsMutations } from './fewer-conditions.js';
import type { Mutation } from './mutation.js';
import { publicationMutations } from './publication.js';

export type { Mutation };
export const mutations: readonly Mutation[] = [
  ...publicationMutations,
  ...endingMutations,
  ...carriedMutations,
  ...fewerConditionsMutations,
];
