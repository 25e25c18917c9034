/** Asks a control plane again and again whether it lives, from a process of its own: `node bench/storm/healthz.ts <url>`. */
const PAUSE_MS = 20;
const [url = ''] = process.argv.slice(2);
const took: number[] = [];
process.on('message', () => {
  process.send?.(took, () => process.disconnect());
});
process.send?.('ready');
while (process.connected) {
  const start = performance.now();
  // A control plane that has been stopped has no more to tell.
  await fetch(new URL('/healthz', url)).then(
    (response) => response.text(),
    () => process.disconnect(),
  );
  took.push(performance.now() - start);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
