import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LAB_SERVER, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

describePrivileged('the plane of a lab', () => {
  it('answers hosts of either family, and the test', async () => {
    await using lab = await natlab({ hosts: { a: { family: 'ipv4' }, b: { family: 'ipv6' } } });
    await using plane = await startLabPlane(lab);
    expect(await plane.joinToken()).toMatch(/^mesh-join-/);
    const answers = ['a', 'b'].map((name) => lab.host(name).must('curl', ['-s', `${LAB_SERVER}/api/v1/discovery`]));
    for (const answer of await Promise.all(answers)) {
      expect(JSON.parse(answer)).toMatchObject({ signalingUrl: 'nats://plane.test:4222', stunUrl: 'plane.test:3478' });
    }
  });
});
