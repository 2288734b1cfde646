// Java RMI: a process that stands still for longer than its lease finds that what it held is gone, and is not told that it was given up.
//
// B owns an object, C holds a stub of it and is stopped for three leases. When it goes on, its stub should work, or say that C was taken
// for dead. With Java 17 it meets NoSuchObjectException. That is how leases are specified.
import java.io.*;
import java.nio.file.*;
import java.rmi.*;
import java.rmi.registry.*;
import java.rmi.server.*;

public class RmiPausedHolder {
    static final int LEASE_MS = 3000;

    interface Cell extends Remote { int get() throws RemoteException; }
    interface Maker extends Remote { Cell make() throws RemoteException; }

    static class Value extends UnicastRemoteObject implements Cell {
        Value() throws RemoteException { }
        public int get() { return 7; }
    }

    static class Owner extends UnicastRemoteObject implements Maker {
        Owner() throws RemoteException { }
        public Cell make() throws RemoteException { return new Value(); }
    }

    public static void main(String[] words) throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        if (words.length > 0) { hold(Integer.parseInt(words[0])); return; }
        System.setProperty("java.rmi.dgc.leaseValue", "" + LEASE_MS);
        System.setProperty("sun.rmi.dgc.checkInterval", "" + LEASE_MS / 2);
        int port = 40000 + (int) (ProcessHandle.current().pid() % 20000);
        LocateRegistry.createRegistry(port).bind("B", new Owner());
        String source = System.getProperty("sun.java.command").replaceFirst("^\\S+ ", "").split(" ")[0];
        Process c = new ProcessBuilder("java", source, "" + port).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader said = c.inputReader();
        System.out.println("C " + said.readLine());
        new ProcessBuilder("kill", "-STOP", "" + c.pid()).start().waitFor();
        for (long end = System.currentTimeMillis() + 3 * LEASE_MS; System.currentTimeMillis() < end; Thread.sleep(200)) System.gc();
        new ProcessBuilder("kill", "-CONT", "" + c.pid()).start().waitFor();
        c.outputWriter().append("go on\n").flush();
        String found = said.readLine();
        c.destroyForcibly();
        boolean isLost = found != null && found.contains("NoSuchObject");
        System.out.println("C " + found);
        System.out.println(isLost ? "REPRODUCED: C held it all the time, and it is gone" : "NOT REPRODUCED: C " + found);
        System.out.flush();
        Runtime.getRuntime().halt(isLost ? 1 : 0);
    }

    static void hold(int port) throws Exception {
        Cell cell = ((Maker) LocateRegistry.getRegistry("127.0.0.1", port).lookup("B")).make();
        System.out.println("reads " + cell.get());
        new BufferedReader(new InputStreamReader(System.in)).readLine();
        try { System.out.println("reads " + cell.get()); } catch (RemoteException error) { System.out.println("meets " + error); }
        System.out.flush();
    }
}
