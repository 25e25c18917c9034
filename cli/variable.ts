/** A variable of the environment. One that is empty is none, as it is for the settings of meshd. */
export function variable(name: `MESH_${string}`): string | undefined {
  return process.env[name] || undefined;
}
