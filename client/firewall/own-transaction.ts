/**
 * Marks a transaction as this node's own for those who watch nftables: a table that it makes and removes, before everything
 * else and after it. The kernel tells of each removal of a transaction without a gap, in this order, of these two too:
 *
 *     delete table inet mesh_mesh0/begin/7
 *     delete table inet mesh_mesh0
 *     delete table inet mesh_mesh0/end/7
 *
 * A process id would not do: the kernel tells that of its first namespace, which a container does not know.
 *
 * @param load the number of the load that is in force once it is over
 */
export function ownTransaction(table: string, load: number, text: string): string {
  // No interface has a slash in its name, so no node has a table of this one.
  const mark = (at: 'begin' | 'end') => {
    const name = `${table}/${at}/${load}`;
    return `add table inet ${name}\ndelete table inet ${name}\n`;
  };
  return `${mark('begin')}${text}${mark('end')}`;
}

const MARK = /^delete table inet ([^/ ]+)\/(begin|end)\/(\d+)(?: |$)/;

export function markOf(table: string, line: string): { readonly isBegin: boolean; readonly load: number } | undefined {
  const [, of, at, load] = MARK.exec(line) ?? [];
  return of === table ? { isBegin: at === 'begin', load: Number(load) } : undefined;
}
