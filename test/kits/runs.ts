/** Returns how often to run an expensive property: a fifth of all runs each time, all of them in `npm run test:long`. */
export function runs(all: number): number {
  return process.env['MESH_LONG'] === '1' ? all : Math.ceil(all / 5);
}
