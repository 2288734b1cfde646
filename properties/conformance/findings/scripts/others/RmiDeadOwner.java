// Java RMI: a stub of an object whose owner is dead can be passed on, and nobody is told.
//
// B owns an object and is killed. A passes its stub on to C. A, or C, should be told that the owner is lost. With Java 17 the call
// succeeds: C asks B for a lease while it reads the stub, that fails, and the failure is kept to itself (`DGCClient` tries again).
import java.io.*;
import java.rmi.*;
import java.rmi.registry.*;
import java.rmi.server.*;

public class RmiDeadOwner {
    interface Cell extends Remote { int get() throws RemoteException; }
    interface Keeper extends Remote { void keep(Cell cell) throws RemoteException; }

    static class Value extends UnicastRemoteObject implements Cell {
        Value() throws RemoteException { }
        public int get() { return 7; }
    }

    static class Desk extends UnicastRemoteObject implements Keeper {
        Cell kept;
        Desk() throws RemoteException { }
        public void keep(Cell cell) { kept = cell; }
    }

    public static void main(String[] words) throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        int port = words.length > 0 ? Integer.parseInt(words[0]) : 40000 + (int) (ProcessHandle.current().pid() % 20000);
        if (words.length > 0) { own(port); return; }
        String source = System.getProperty("sun.java.command").replaceFirst("^\\S+ ", "").split(" ")[0];
        Process b = new ProcessBuilder("java", source, "" + port).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        b.inputReader().readLine();
        Cell cell = (Cell) LocateRegistry.getRegistry("127.0.0.1", port).lookup("cell");
        System.out.println("A reads " + cell.get());
        b.destroyForcibly().waitFor();
        Desk c = new Desk();
        String said = "nothing";
        try { ((Keeper) RemoteObject.toStub(c)).keep(cell); } catch (RemoteException error) { said = error.toString(); }
        boolean isKept = c.kept != null;
        System.out.println("B is dead; A was told: " + said + "; C was given its object: " + isKept);
        System.out.println(isKept ? "REPRODUCED: C was handed a reference to what is lost" : "NOT REPRODUCED: " + said);
        System.out.flush();
        Runtime.getRuntime().halt(isKept ? 1 : 0);
    }

    static void own(int port) throws Exception {
        LocateRegistry.createRegistry(port).bind("cell", new Value());
        System.out.println("ready");
        System.out.flush();
        System.in.read();
    }
}
