/** Prints how large the young generation becomes, in bytes, where much of what is made lives for a while. */
import { getHeapSpaceStatistics } from 'node:v8';

const youngBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;

const alive = [];
let largest = 0;
for (let i = 0; i < 4_000_000; i++) {
  alive[i % 400_000] = { number: i, list: [i] };
  if (i % 20_000 === 0) largest = Math.max(largest, youngBytes());
}
console.log(largest);
