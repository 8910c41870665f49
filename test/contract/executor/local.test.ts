import { localPlace } from '../../executors/local/place.ts';
import { executorContract } from './contract.ts';

executorContract('local', () => localPlace());
