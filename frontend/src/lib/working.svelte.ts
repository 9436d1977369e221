/** Changes on their way to the server, so that the page can say that it is at work. */

class Working {
  n = $state(0);

  async during<T>(call: () => Promise<T>): Promise<T> {
    this.n += 1;
    try {
      return await call();
    } finally {
      this.n -= 1;
    }
  }
}

export const working = new Working();
